/** The facts that an operator who settles a transfer by hand needs about the treasury that has paid it. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { coinOf, fromChain } from '../../core/chains/assets.js';
import { hexOf } from '../networks/evm/abi.js';
import type { TransactionCost } from '../../core/chains/chain.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { TransferRow } from '../../core/db/schema.js';
import { networkAt, type TreasuryContext } from './context.js';
import { listTreasuries, readOwners } from './owners.js';
import { bookGas } from './treasury-books.js';
import { balanceChanges, readIncome } from './watch-reads.js';

/** The log of a Safe when it has executed a transaction: https://github.com/safe-global/safe-smart-account, Safe.sol */
const executionSuccess = hexOf(keccak_256(utf8ToBytes('ExecutionSuccess(bytes32,uint256)')));

export function createSettledByHand(deps: TreasuryContext) {
  const treasuriesOf = async (reader: Reader, { mode, merchant_id: merchantId }: TransferRow) =>
    (await readOwners(deps, reader, mode)).treasuriesOf(merchantId);

  const isPaidByTreasury = async (reader: Reader, transfer: TransferRow): Promise<boolean> => {
    if (!networkAt(deps, transfer)) return false;
    const treasuries = await listTreasuries(deps, reader, transfer.mode, transfer.merchant_id);
    return treasuries.some(({ state }) => state === 'in_use');
  };

  return {
    /** Previous treasuries too. Without one in use, the merchant's wallet is not known. */
    async payersOf(reader: Reader, transfer: TransferRow): Promise<readonly string[] | undefined> {
      return (await isPaidByTreasury(reader, transfer)) ? treasuriesOf(reader, transfer) : undefined;
    },

    /**
     * The amount of the coin that the merchant's treasuries, as contracts, sent to the transfer's address in a block:
     * no more than the address gained, and than one of them has less than it had and got, unless the transaction's log
     * shows that one of them has executed it: no balance shows coins that another contract sent a treasury in the same
     * block. In units; undefined if the nodes do not have the balances any more.
     * @throws NodesUnavailable
     */
    async sentByContracts(
      transfer: TransferRow,
      { txHash, height }: { readonly txHash: string; readonly height: number },
      signal: AbortSignal,
    ): Promise<bigint | undefined> {
      const on = networkAt(deps, transfer);
      const coin = on && coinOf(on.chainAssets);
      const treasuries = await treasuriesOf(deps.database.reader, transfer);
      if (!coin || treasuries.length === 0) return 0n;
      const addresses = [transfer.address.toLowerCase(), ...treasuries];
      return on.evm.run(async (node) => {
        const changes = await balanceChanges(node, addresses, height);
        if (!changes) return undefined;
        const [gained = 0n, ...others] = changes;
        const income = await readIncome(node, treasuries, height);
        const spent = others.map((change, index) => (income[index] ?? 0n) - change);
        const most = spent.reduce((found, one) => (one > found ? one : found), 0n);
        if (gained <= most) return fromChain(coin, gained);
        const [receipt] = await node.receipts([`0x${txHash}`]);
        const isExecuted = receipt?.logs.some(
          ({ address, topics }) => treasuries.includes(address) && topics[0] === executionSuccess,
        );
        return fromChain(coin, isExecuted ? gained : most);
      }, signal);
    },

    /** A merchant with a treasury pays from there. Without one, the coins leave the addresses that payers paid to. */
    async placeOf(reader: Reader, transfer: TransferRow): Promise<'treasury' | undefined> {
      return (await isPaidByTreasury(reader, transfer)) ? 'treasury' : undefined;
    },

    /** Books the gas of the transaction, if a treasury of the merchant has paid it, and it is not in the books. */
    async bookGas(
      transaction: Transaction,
      transfer: TransferRow,
      txHash: string,
      { fee, payer }: TransactionCost,
    ): Promise<void> {
      const on = networkAt(deps, transfer);
      if (!on || payer === undefined || !(await treasuriesOf(transaction, transfer)).includes(payer)) return;
      const hash = `0x${txHash.trim().toLowerCase().replace(/^0x/, '')}`;
      await bookGas(deps, transaction, on, hash, transfer.merchant_id, fee);
    },
  };
}
