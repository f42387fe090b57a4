/** The context that PSBT rules share: the network of each, the account that signs it, and the form of amounts. */
import { fromUnits } from 'crypto-checkout/contract';
import type { Logger } from 'pino';
import { defaultNet } from '../../core/addresses/formats.js';
import { isBitcoinLike } from '../../core/families/kinds.js';
import type { Hooks } from '../../core/hooks.js';
import type { DepositKeyRecord, DepositKeys } from '../../core/addresses/deposit-keys.js';
import { readSpendingAccount, type AccountUse, type SpendingAccount } from './account.js';
import {
  changeScript,
  scriptOfAddress,
  scriptsOf,
  type PayoutOutput,
  type PayoutTransaction,
} from './build.js';
import type { ConnectedNetwork } from '../../core/chains/connected.js';
import type { Network } from '../../core/chains/networks.js';
import type { TransferRow } from '../../core/db/schema.js';
import type { Ledger } from '../../core/ledger/ledger.js';
import type { AuditLog } from '../../core/merchants/audit-log.js';
import type { Currencies } from '../../core/money/currencies.js';
import type { Currency } from '../../core/money/currency-list.js';
import { errorMessage } from '../../core/shared/error-message.js';
import { invalidState } from '../../core/shared/problem.js';
import type { Mode } from '../../core/shared/scope.js';
import type { RoomDeps } from '../../core/db/room-deps.js';
import type { WhyHeld } from '../../core/withdrawals/deps.js';
import type { Settlement } from '../../core/withdrawals/settlement.js';
import { outpointOf, sumOf } from './outpoints.js';
import type { StoredPsbt } from './psbt-store.js';
import type { PsbtTable, PsbtVersionRow } from './tables.js';

export interface PsbtDeps extends RoomDeps {
  readonly currencies: Currencies;
  readonly ledger: Ledger;
  readonly settlement: Settlement;
  readonly auditLog: AuditLog;
  readonly depositKeys: Pick<DepositKeys, 'list'>;
  /** The real networks of all kinds. */
  readonly connected: readonly Pick<ConnectedNetwork, 'network' | 'utxoNode'>[];
  readonly hooks: Pick<Hooks, 'beforePayout' | 'beforeTransfers' | 'ensurePayable'>;
  readonly whyHeld: WhyHeld;
  /** True if sums are together worth so much that two nodes must agree. */
  readonly isCrossChecked: (
    network: Pick<Network, 'crossCheckAbove'>,
    stake: readonly { readonly units: bigint; readonly currency: string }[],
  ) => boolean;
  readonly log: Logger;
}

export type PsbtNetwork = ReturnType<typeof networkOf>;

/** The network of a payout, and the merchant's account there, whose keys sign it. */
export interface Wallet extends PsbtNetwork {
  readonly account: SpendingAccount;
}

/** The names of an account's keys in a PSBT. */
export type AccountNames = Pick<AccountUse, 'fingerprint' | 'path'>;

/** Problem: `invalid_state` if the network is not configured, or not of Bitcoin's kind. */
export function networkOf(
  { connected, currencies }: Pick<PsbtDeps, 'connected' | 'currencies'>,
  mode: Mode,
  code: string,
) {
  const found = connected.find(({ network }) => network.mode === mode && network.code === code.toLowerCase());
  const node = found?.utxoNode;
  if (!found || !node || !isBitcoinLike(found.network.family)) {
    const known = connected.filter(({ network, utxoNode }) => utxoNode && network.mode === mode);
    const codes = known.map(({ network }) => network.code).join(', ');
    throw invalidState(
      `"${code}" is not a network of Bitcoin's kind in ${mode} mode. ${codes === '' ? 'NETWORKS_FILE names none' : `There are ${codes}`}`,
    );
  }
  const { network } = found;
  return {
    network,
    family: found.network.family,
    net: network.addressNet ?? defaultNet(mode),
    node,
    currency: currencies.known(Object.keys(network.assets)[0] ?? ''),
  };
}

/** Problem: `invalid_state` if the fingerprint or the path cannot be right. */
export function walletOfKey(key: DepositKeyRecord, to: PsbtNetwork, names: AccountNames): Wallet {
  const { extendedPublicKey, script } = key;
  // Only EVM networks have treasuries.
  if (extendedPublicKey === undefined) throw new Error(`The deposit key ${key.id} is a treasury`);
  const { family, net } = to;
  const { fingerprint, path } = names;
  try {
    return {
      ...to,
      account: readSpendingAccount(extendedPublicKey, { family, net, script, fingerprint, path }),
    };
  } catch (error) {
    throw invalidState(errorMessage(error));
  }
}

/** The wallet that signs a PSBT. Problem: `invalid_state` if its network is not configured any more. */
export async function walletOf(deps: PsbtDeps, psbt: PsbtTable): Promise<Wallet> {
  const to = networkOf(deps, psbt.mode, psbt.network);
  const keys = await deps.depositKeys.list(deps.database.reader, psbt.merchant_id);
  const key = keys.find(({ id }) => id === psbt.key_id);
  if (!key) throw new Error(`The deposit key of the PSBT ${psbt.id} is gone`);
  return walletOfKey(key, to, {
    fingerprint: psbt.fingerprint ?? undefined,
    path: psbt.account_path ?? undefined,
  });
}

/** The output that pays a transfer. @throws if its address is not one of the network */
export const outputTo = (
  { address, amount }: Pick<TransferRow, 'address' | 'amount'>,
  { account }: Pick<Wallet, 'account'>,
): PayoutOutput => ({ script: scriptOfAddress(address, account.prefixes), amount });

/** The amounts that a version pays to each of its transfers. */
export function paidAmounts(
  { inputs, transfers }: Pick<StoredPsbt, 'inputs' | 'transfers'>,
  { fee, change_amount }: Pick<PsbtVersionRow, 'fee' | 'change_amount'>,
): bigint[] {
  const left = sumOf(inputs) - sumOf(transfers) - change_amount - fee;
  return transfers.map(({ amount, bears_fee }) => amount + (bears_fee ? left : 0n));
}

/** The transaction of a version, as it was exported. */
export function expectedOf(
  psbt: StoredPsbt,
  version: Pick<PsbtVersionRow, 'fee' | 'change_amount'>,
  account: SpendingAccount,
): PayoutTransaction {
  const { change_amount: change } = version;
  const paid = paidAmounts(psbt, version);
  const { change_index: changeIndex } = psbt;
  return {
    account,
    inputs: psbt.inputs.map((input) => {
      const { branch, derivation_index: index } = input;
      const publicKey = account.publicKey(branch, index);
      const coin = { ...outpointOf(input), amount: input.amount, branch, index };
      return { ...coin, script: scriptsOf(publicKey, account.script).script, publicKey };
    }),
    outputs: [
      ...psbt.transfers.map((transfer, position) => ({
        ...outputTo(transfer, { account }),
        amount: paid[position] ?? 0n,
      })),
      ...(change > 0n && changeIndex !== null
        ? [{ script: changeScript(account, changeIndex), amount: change, changeIndex }]
        : []),
    ],
  };
}

/** Such as `0.5 LTC`. */
export function amountIn({ code, decimals }: Currency): (units: bigint) => string {
  return (units) => `${fromUnits(units, decimals)} ${code}`;
}

/** Satoshis per 1000 virtual bytes as satoshis per virtual byte: `1.25`. */
export function rateText(rate: bigint): string {
  return fromUnits(rate, 3);
}
