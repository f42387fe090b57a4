/** Finds out what became of a PSBT: whether one of its versions waits or is in a block, or its coins went elsewhere. */
import { hex } from '@scure/base';
import type { SpendingAccount } from './account.js';
import type { Outpoint, Spender, UtxoNode } from '../networks/bitcoin/utxo-node.js';
import { changeScript } from './build.js';
import { expectedOf } from './context.js';
import { outpointOf } from './outpoints.js';
import type { StoredPsbt } from './psbt-store.js';
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
  /** The wallet itself has replaced it by one with another fee: the same but for a smaller or larger change. */
  | { readonly kind: 'replaced'; readonly spender: Spender; readonly changeAmount: bigint }
  /** A transaction that waits in the mempool, and is none of ours, spends its coins. */
  | { readonly kind: 'contested' }
  /** A transaction in a block, which is none of ours, has spent its coins. */
  | { readonly kind: 'conflict'; readonly spender: Spender; readonly confirmations: number }
  /** Its coins are gone, and no block from `from_height` on says where: their own transactions may have left the chain. */
  | { readonly kind: 'gone' };

/** @param readAccount is called only if none of the versions is found by its hash */
export async function findLocation(
  psbt: StoredPsbt,
  node: UtxoNode,
  readAccount: () => Promise<SpendingAccount>,
  signal: AbortSignal,
): Promise<Location> {
  const known = await findInKnownBlock(psbt, node, signal);
  if (known) return known;
  const now = await node.unspent(psbt.inputs.map(outpointOf), true, signal);
  if (now.every((output) => output !== undefined)) return { kind: 'absent' };
  const place = await locateVersions(psbt, node, signal);
  return place ?? findWhoSpent(psbt, node, await readAccount(), signal);
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
  account: SpendingAccount,
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
  const changeAmount = changeOf(spender, psbt, account);
  const version = psbt.versions.find(
    ({ tx_hash: hash, change_amount: change }) =>
      hash === txHash || (hash === null && changeAmount === change),
  );
  if (version) return { kind: 'block', version, txHash, blockHash, height, confirmations };
  if (changeAmount !== undefined) return { kind: 'replaced', spender, changeAmount };
  return { kind: 'conflict', spender, confirmations };
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
