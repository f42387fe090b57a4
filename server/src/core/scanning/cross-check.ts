/** Has the nodes of a network confirm the receipts of large amounts one by one: those of two providers must agree, and none may differ. */
import { firstContractIndex, type Chain, type NodeBlock } from '../chains/chain.js';
import { NodesUnavailable } from '../chains/nodes-unavailable.js';
import { keyOf, transferKey, type CheckedReceipt, type UncheckedReceipt } from './scan.js';

export type CrossCheck = Awaited<ReturnType<typeof crossCheck>>;

/** A node that cannot be asked, or has not read a block yet, neither confirms nor contradicts. */
export async function crossCheck(chain: Chain, receipts: readonly UncheckedReceipt[], signal: AbortSignal) {
  const checked: CheckedReceipt[] = [];
  /** The contradiction of a node, as one sentence without the full stop; undefined if there is none. */
  let disagreement: string | undefined;
  for (const height of new Set(receipts.map((receipt) => receipt.height))) {
    const reported = await tellAll(chain, height, signal);
    for (const receipt of receipts.filter((one) => one.height === height)) {
      const verdicts = reported.map((one) => ({ provider: one.provider, verdict: judge(one, receipt) }));
      const differing = verdicts.find(({ verdict }) => verdict !== 'agrees' && verdict !== undefined);
      disagreement ??= differing?.verdict;
      const agreeing = verdicts.filter(({ verdict }) => verdict === 'agrees');
      const providers = new Set(agreeing.map(({ provider }) => provider));
      if (!differing && providers.size >= 2) {
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
  // A receipt that a balance showed was credited only because another provider has it, too. Its block's hash
  // identifies it.
  if (outputIndex < 0) return 'agrees';
  const key = transferKey(txHash, outputIndex);
  const found = block.transfers.find((transfer) => keyOf(transfer) === key);
  // Many nodes do not keep what contracts send: java-tron does so only with `saveInternalTx`.
  if (!found && outputIndex >= firstContractIndex) return undefined;
  const isSame =
    found?.currency === receipt.currency &&
    found.address === receipt.address &&
    (found.chainAmount ?? found.amount) === receipt.chainAmount;
  return isSame ? 'agrees' : `${node} does not have the transfer ${txHash} in block ${height} as it was read`;
}
