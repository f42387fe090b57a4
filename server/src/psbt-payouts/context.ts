/** What the rules of PSBTs share: the network of each, the account that signs it, and how amounts are written. */
import { fromUnits } from 'crypto-checkout/contract';
import type { Logger } from 'pino';
import { defaultNet } from '../addresses/formats.js';
import { isBitcoinLike } from '../addresses/bitcoin-scripts.js';
import type { RestoreGuard } from '../restore/guard.js';
import type { DepositKeyRecord, DepositKeys } from '../addresses/deposit-keys.js';
import { readSpendingAccount, type AccountUse, type SpendingAccount } from './account.js';
import { scriptOfAddress, scriptsOf } from './build.js';
import type { ExpectedTransaction } from './check.js';
import type { ConnectedNetwork } from '../chains/connect.js';
import type { PsbtTable, PsbtVersionTable } from '../db/schema.js';
import type { Ledger } from '../ledger/ledger.js';
import type { AuditLog } from '../merchants/audit-log.js';
import type { Currencies } from '../money/currencies.js';
import type { Currency } from '../money/currency-list.js';
import { errorMessage } from '../shared/error-message.js';
import { invalidState } from '../shared/problem.js';
import type { Mode } from '../shared/scope.js';
import type { RoomDeps } from '../db/room-deps.js';
import type { Payouts } from '../withdrawals/payouts.js';
import type { Settlement } from '../withdrawals/settlement.js';
import { outpointOf } from './outpoints.js';
import type { StoredPsbt } from './psbt-store.js';

export interface PsbtDeps extends RoomDeps {
  readonly currencies: Currencies;
  readonly ledger: Ledger;
  readonly payouts: Payouts;
  readonly settlement: Settlement;
  readonly auditLog: AuditLog;
  readonly depositKeys: Pick<DepositKeys, 'list'>;
  /** The real networks of all kinds. */
  readonly connected: readonly Pick<ConnectedNetwork, 'network' | 'utxoNode'>[];
  readonly guard: Pick<RestoreGuard, 'ensureTrusted' | 'startPayout'>;
  readonly log: Logger;
}

export type PsbtNetwork = ReturnType<typeof networkOf>;

/** How the keys of an account are named in a PSBT. */
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
export function accountOf(key: DepositKeyRecord, to: PsbtNetwork, names: AccountNames): SpendingAccount {
  const { extendedPublicKey } = key;
  // Treasuries are of EVM networks alone.
  if (extendedPublicKey === undefined) throw new Error(`The deposit key ${key.id} is a treasury`);
  try {
    const { family, net } = to;
    return readSpendingAccount(extendedPublicKey, { family, net, script: key.script, ...names });
  } catch (error) {
    throw invalidState(errorMessage(error));
  }
}

/** The account that signs a PSBT. */
export async function accountOfPsbt(
  { database, depositKeys }: Pick<PsbtDeps, 'database' | 'depositKeys'>,
  psbt: PsbtTable,
  to: PsbtNetwork,
): Promise<SpendingAccount> {
  const keys = await depositKeys.list(database.reader, psbt.merchant_id);
  const key = keys.find(({ id }) => id === psbt.key_id);
  if (!key) throw new Error(`The deposit key of the PSBT ${psbt.id} is gone`);
  return accountOf(key, to, {
    fingerprint: psbt.fingerprint ?? undefined,
    path: psbt.account_path ?? undefined,
  });
}

/** What a version pays to each of its transfers. */
export function paidAmounts(
  { inputs, transfers }: Pick<StoredPsbt, 'inputs' | 'transfers'>,
  { fee, change_amount }: Pick<PsbtVersionTable, 'fee' | 'change_amount'>,
): bigint[] {
  const spent = inputs.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const asked = transfers.map(({ amount }) => BigInt(amount));
  return transfers.map(({ bears_fee }, position) => {
    const others = asked.reduce((sum, units, index) => (index === position ? sum : sum + units), 0n);
    return bears_fee === 1 ? spent - others - BigInt(change_amount) - BigInt(fee) : (asked[position] ?? 0n);
  });
}

/** The transaction of a version, as it was exported. */
export function expectedOf(
  psbt: StoredPsbt,
  version: Pick<PsbtVersionTable, 'fee' | 'change_amount'>,
  account: SpendingAccount,
): ExpectedTransaction {
  const { script: type, prefixes } = account;
  const scriptOf = (publicKey: Uint8Array) => scriptsOf(publicKey, type).script;
  const change = BigInt(version.change_amount);
  const paid = paidAmounts(psbt, version);
  const { change_index: changeIndex } = psbt;
  return {
    type,
    prefixes,
    inputs: psbt.inputs.map((input) => {
      const { branch, derivation_index: index } = input;
      const publicKey = account.publicKey(branch, index);
      const coin = { ...outpointOf(input), amount: BigInt(input.amount), branch, index };
      return { ...coin, script: scriptOf(publicKey), publicKey };
    }),
    outputs: [
      ...psbt.transfers.map(({ address }, position) => ({
        script: scriptOfAddress(address, prefixes),
        amount: paid[position] ?? 0n,
      })),
      ...(change > 0n && changeIndex !== null
        ? [{ script: scriptOf(account.publicKey(1, changeIndex)), amount: change, changeIndex }]
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
