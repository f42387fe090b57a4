/** Finds out what became of a PSBT: whether one of its versions waits or is in a block, or its coins went elsewhere. */
import { hex } from '@scure/base';
import type { SpendingAccount } from './account.js';
import type { Outpoint, Spender, UtxoNode } from '../networks/bitcoin/utxo-node.js';
import { changeScript } from './build.js';
import { expectedOf } from './context.js';
import { outpointOf, sumOf } from './outpoints.js';
import { transfersPaid } from './paid-transfers.js';
import type { Claim, StoredPsbt } from './psbt-store.js';
import type { PsbtVersionRow } from './tables.js';

export type Location =
  /** Its coins are all unspent: nothing of it is on the network. */
  | { readonly kind: 'absent' }
  /** Waits in the mempool. */
  | { readonly kind: 'waiting'; readonly version: PsbtVersionRow; readonly txHash: string }
  | {
      readonly kind: 'block';
      readonly version: PsbtVersionRow;
      readonly txHash: string;
      readonly blockHash: string;
      readonly height: number;
      readonly confirmations: number;
    }
  /** The wallet itself has replaced it by one that pays the same transfers, with another fee. */
  | {
      readonly kind: 'replaced';
      readonly spender: Spender;
      readonly fee: bigint;
      /** The amount of the PSBT's change output; 0 if the wallet has chosen another form. */
      readonly changeAmount: bigint;
    }
  /** A transaction that waits in the mempool, and is none of ours, spends its coins. */
  | { readonly kind: 'contested' }
  /** A transaction in a block, which is none of ours, has spent its coins. */
  | {
      readonly kind: 'conflict';
      readonly spender: Spender;
      readonly confirmations: number;
      /** Ids of the transfers that it pays nevertheless. */
      readonly pays: ReadonlySet<string>;
    }
  /** Its coins are gone, and no block from `from_height` on says where: their own transactions may have left the chain. */
  | { readonly kind: 'gone' };

export type Found<Kind extends Location['kind']> = Extract<Location, { readonly kind: Kind }>;

/** Facts from the books, read only if none of the versions is found by its hash. */
interface Books {
  account(): Promise<SpendingAccount>;
  /** Other transfers that a transaction pays. */
  claims(txHash: string): Promise<readonly Claim[]>;
  /** True if the fee of a transaction is in the books already. */
  isBooked(txHash: string): Promise<boolean>;
}

export async function findLocation(
  psbt: StoredPsbt,
  node: UtxoNode,
  books: Books,
  signal: AbortSignal,
): Promise<Location> {
  const known = await findInKnownBlock(psbt, node, signal);
  if (known) return known;
  const now = await node.unspent(psbt.inputs.map(outpointOf), true, signal);
  if (now.every((output) => output !== undefined)) return { kind: 'absent' };
  const place = await locateVersions(psbt, node, signal);
  return place ?? findWhoSpent(psbt, node, books, signal);
}

async function findInKnownBlock(
  { versions }: StoredPsbt,
  node: UtxoNode,
  signal: AbortSignal,
): Promise<Location | undefined> {
  for (const version of versions) {
    const { tx_hash: txHash, block_hash: blockHash, block_height: height } = version;
    if (txHash === null || blockHash === null || height === null) continue;
    const confirmations = await node.confirmations(blockHash, signal);
    if (confirmations > 0) return { kind: 'block', version, txHash, blockHash, height, confirmations };
  }
  return undefined;
}

async function locateVersions(
  { versions, transfers }: StoredPsbt,
  node: UtxoNode,
  signal: AbortSignal,
): Promise<Location | undefined> {
  for (const version of [...versions].reverse()) {
    if (version.tx_hash === null) continue;
    const outputs = transfers.length + (version.change_amount === 0n ? 0 : 1);
    const place = await node.locate(version.tx_hash, outputs, signal);
    if (place) return { ...place, version, txHash: version.tx_hash };
  }
  return undefined;
}

/** None of our versions was found by its hash: all outputs of one may be spent, or it is p2pkh and was not imported. */
async function findWhoSpent(
  psbt: StoredPsbt,
  node: UtxoNode,
  books: Books,
  signal: AbortSignal,
): Promise<Location> {
  const outpoints = psbt.inputs.map(outpointOf);
  const inBlocks = await node.unspent(outpoints, false, signal);
  const spent = outpoints.find((_, position) => inBlocks[position] === undefined);
  if (!spent) return { kind: 'contested' };
  const spender = await node.findSpender(spent, psbt.from_height, signal);
  if (!spender) return { kind: 'gone' };
  const { txHash, blockHash, height } = spender;
  const confirmations = await node.confirmations(blockHash, signal);
  const account = await books.account();
  const changeAmount = changeOf(spender, psbt, account);
  const version = psbt.versions.find(
    ({ tx_hash: hash, change_amount: change }) =>
      hash === txHash || (hash === null && changeAmount === change),
  );
  if (version) return { kind: 'block', version, txHash, blockHash, height, confirmations };
  if (changeAmount !== undefined) {
    return { kind: 'replaced', spender, fee: sumOf(psbt.inputs) - sumOf(spender.outputs), changeAmount };
  }
  const pays = transfersPaid(spender, psbt, account, await books.claims(txHash));
  const paysAll = pays.size === psbt.transfers.length;
  const fee = paysAll ? await feeOfReplacement(spender, psbt, node, signal) : undefined;
  if (fee !== undefined && !(await books.isBooked(txHash))) {
    return { kind: 'replaced', spender, fee, changeAmount: 0n };
  }
  return { kind: 'conflict', spender, confirmations, pays };
}

/** The fee of a transaction that pays all transfers with other inputs or another change; undefined if it must be booked by hand. */
async function feeOfReplacement(
  { txHash, height, inputs, outputs }: Spender,
  psbt: StoredPsbt,
  node: UtxoNode,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  const isSpent = ({ txHash: hash, outputIndex }: Outpoint) =>
    inputs.some((input) => input.txHash === hash && input.outputIndex === outputIndex);
  if (psbt.transfers.some((transfer) => transfer.bears_fee)) return undefined;
  if (outputs.some(({ amount }) => amount < 0n)) return undefined;
  if (!psbt.inputs.map(outpointOf).every(isSpent)) return undefined;
  return inputs.length === psbt.inputs.length
    ? sumOf(psbt.inputs) - sumOf(outputs)
    : node.fee(txHash, height, signal);
}

/** The change of a transaction that spends the same coins and pays the same transfers; undefined if it does not. */
function changeOf(spender: Spender, psbt: StoredPsbt, account: SpendingAccount): bigint | undefined {
  const inputs = psbt.inputs.map(outpointOf);
  const isOurs = ({ txHash, outputIndex }: Outpoint) =>
    inputs.some((input) => input.txHash === txHash && input.outputIndex === outputIndex);
  if (spender.inputs.length !== inputs.length || !spender.inputs.every(isOurs)) return undefined;
  const newest = psbt.versions.at(-1);
  if (!newest) return undefined;
  const paid = expectedOf(psbt, newest, account).outputs.slice(0, psbt.transfers.length);
  const isPaid = paid.every(({ script, amount }, position) => {
    const output = spender.outputs[position];
    return output?.script === hex.encode(script) && output.amount === amount;
  });
  if (!isPaid) return undefined;
  const [change, ...others] = spender.outputs.slice(paid.length);
  if (!change) return 0n;
  const { change_index: index } = psbt;
  const isChange = index !== null && change.script === hex.encode(changeScript(account, index));
  return isChange && others.length === 0 && change.amount > 0n ? change.amount : undefined;
}
