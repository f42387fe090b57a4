/** What an operator who settles a transfer by hand needs of the treasury that has paid it. */
import type { DepositKeys } from '../addresses/deposit-keys.js';
import { coinOf, fromChain } from '../chains/assets.js';
import type { TransactionCost } from '../chains/connect.js';
import type { Reader, Transaction } from '../db/engine.js';
import type { TransferTable } from '../db/schema.js';
import type { EvmConnected } from './forwarder-checks.js';
import { readOwners } from './owners.js';
import { bookGas, type TreasuryBooksDeps } from './treasury-books.js';
import { balanceChanges } from './watch-reads.js';

export interface SettledByHandDeps extends TreasuryBooksDeps {
  readonly networks: readonly EvmConnected[];
  readonly depositKeys: Pick<DepositKeys, 'list'>;
}

export function createSettledByHand(deps: SettledByHandDeps) {
  const networkOf = ({ mode, network }: TransferTable) =>
    deps.networks.find((on) => on.network.mode === mode && on.network.code === network);
  const treasuriesOf = async (reader: Reader, { mode, merchant_id: merchantId }: TransferTable) =>
    (await readOwners(deps.depositKeys, reader, mode)).treasuriesOf(merchantId);

  return {
    /**
     * What the merchant's treasuries, as contracts, sent of the coin to the transfer's address in a block: no more than the
     * address gained, and than one of them lost. In units; undefined if the nodes do not have the balances any more.
     * @throws NodesUnavailable
     */
    async sentByContracts(
      transfer: TransferTable,
      height: number,
      signal: AbortSignal,
    ): Promise<bigint | undefined> {
      const on = networkOf(transfer);
      const coin = on && coinOf(on.chainAssets);
      const treasuries = await treasuriesOf(deps.database.reader, transfer);
      if (!coin || treasuries.length === 0) return 0n;
      const addresses = [transfer.address.toLowerCase(), ...treasuries];
      const changes = await on.evm.run((node) => balanceChanges(node, addresses, height), signal);
      if (!changes) return undefined;
      const [gained = 0n, ...others] = changes;
      const lost = others.reduce((most, change) => (-change > most ? -change : most), 0n);
      return fromChain(coin, gained < lost ? gained : lost);
    },

    /** Books the gas of the transaction, if a treasury of the merchant has paid it, and it is not in the books. */
    async bookGas(
      transaction: Transaction,
      transfer: TransferTable,
      txHash: string,
      { fee, payer }: TransactionCost,
    ): Promise<void> {
      const on = networkOf(transfer);
      if (!on || payer === undefined || !(await treasuriesOf(transaction, transfer)).includes(payer)) return;
      const hash = `0x${txHash.trim().toLowerCase().replace(/^0x/, '')}`;
      await bookGas(deps, transaction, on, hash, transfer.merchant_id, fee);
    },
  };
}
