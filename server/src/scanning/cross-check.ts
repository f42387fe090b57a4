/** Has the nodes of a network confirm the receipts of large amounts one by one: two must agree, and none may differ. */
import type { Chain, NodeBlock } from '../chains/chain.js';
import { firstContractIndex } from '../chains/evm/transfers.js';
import { NodesUnavailable } from '../rpc/node-error.js';
import { keyOf, transferKey, type CheckedReceipt, type UncheckedReceipt } from './scan.js';

export type CrossCheck = Awaited<ReturnType<typeof crossCheck>>;

/** A node that cannot be asked, or has not read a block yet, neither confirms nor contradicts. */
export async function crossCheck(chain: Chain, receipts: readonly UncheckedReceipt[], signal: AbortSignal) {
  const checked: CheckedReceipt[] = [];
  /** What a node says differently, as one sentence without the full stop; undefined if none does. */
  let disagreement: string | undefined;
  for (const height of new Set(receipts.map((receipt) => receipt.height))) {
    const told = await tellAll(chain, height, signal);
    for (const receipt of receipts.filter((one) => one.height === height)) {
      const verdicts = told.map((one) => judge(one, receipt));
      const differing = verdicts.find((verdict) => verdict !== 'agrees' && verdict !== undefined);
      disagreement ??= differing;
      const agreeing = verdicts.filter((verdict) => verdict === 'agrees').length;
      if (differing === undefined && agreeing >= 2) {
        checked.push({ id: receipt.id, blockHash: receipt.blockHash });
      }
    }
  }
  return { checked, disagreement };
}

async function tellAll(chain: Chain, height: number, signal: AbortSignal): Promise<readonly NodeBlock[]> {
  try {
    return (await chain.blockOfEach?.(height, signal)) ?? [];
  } catch (error) {
    // The blocks that were read are not lost for it. The receipt waits.
    if (error instanceof NodesUnavailable) return [];
    throw error;
  }
}

/** @returns `agrees`, what the node says differently, or undefined if it says nothing */
function judge({ node, block, finalHeight = -1 }: NodeBlock, receipt: UncheckedReceipt): string | undefined {
  if (!block) return undefined;
  const { height, blockHash, txHash, outputIndex } = receipt;
  if (block.hash !== blockHash) {
    return `${node} has block ${block.hash} at height ${height}, where ${blockHash} was read`;
  }
  if (receipt.needsFinality && finalHeight < height) return undefined;
  // What a contract sent follows from balances, which many nodes soon forget. The block's hash stands for it.
  if (outputIndex < 0 || outputIndex >= firstContractIndex) return 'agrees';
  const key = transferKey(txHash, outputIndex);
  const isSame = block.transfers.some(
    (transfer) =>
      keyOf(transfer) === key &&
      transfer.currency === receipt.currency &&
      transfer.address === receipt.address &&
      (transfer.chainAmount ?? transfer.amount) === receipt.chainAmount,
  );
  return isSame ? 'agrees' : `${node} does not have the transfer ${txHash} in block ${height} as it was read`;
}
