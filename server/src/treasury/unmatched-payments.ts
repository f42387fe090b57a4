/**
 * What treasuries have paid, and no transfer is settled by yet: in blocks that are not final, or because it is not clear which
 * transfer it was. Whoever pays transfers must know of it, or pays twice.
 */
import { assetAt, fromChain } from '../chains/assets.js';
import type { Reader } from '../db/engine.js';
import type { TransferTable } from '../db/schema.js';
import type { EvmConnected } from './forwarder-checks.js';
import { readCoinPayments, readTokenPayments } from './watch-reads.js';
import { openPayments, readCursor } from './watch-store.js';

export interface UnmatchedPayment {
  readonly txHash: string;
  readonly currency: string;
  /** In lower case. */
  readonly address: string;
  /** In units of the currency. */
  readonly amount: bigint;
}

/** Of more blocks than these, the watcher is behind for another reason, and will read them. */
const mostBlocks = 200;

/**
 * @param treasuries of the merchants whose transfers these are
 * @throws NodesUnavailable
 */
export async function unmatchedPayments(
  reader: Reader,
  { network, chainAssets, evm }: EvmConnected,
  treasuries: readonly string[],
  transfers: readonly TransferTable[],
  signal: AbortSignal,
): Promise<UnmatchedPayment[]> {
  const place = { mode: network.mode, network: network.code };
  const stored = (await openPayments(reader, place)).map((row): UnmatchedPayment => ({
    txHash: row.tx_hash,
    currency: row.currency,
    address: row.address.toLowerCase(),
    amount: BigInt(row.amount),
  }));
  if (treasuries.length === 0) return stored;
  const cursor = await readCursor(reader, place);
  const payers = treasuries.map((treasury) => treasury.toLowerCase());
  const destinations = new Set(transfers.map(({ address }) => address.toLowerCase()));
  const contracts = Object.values(chainAssets).flatMap(({ contract }) => contract?.toLowerCase() ?? []);
  const recent = await evm.run(async (node) => {
    const to = await node.blockNumber();
    const from = Math.max((cursor ?? to - network.confirmations) + 1, to - mostBlocks, 1);
    if (from > to) return [];
    const expected = new Map(payers.map((payer) => [payer, destinations]));
    return [
      ...(await readTokenPayments(node, { from, to }, contracts, payers)),
      ...(await readCoinPayments(node, { from, to }, expected)),
    ];
  }, signal);
  const found = recent.flatMap(({ txHash, contract, address, amount }): UnmatchedPayment[] => {
    const asset = assetAt(chainAssets, contract);
    return asset ? [{ txHash, currency: asset.currency, address, amount: fromChain(asset, amount) }] : [];
  });
  return [...stored, ...found];
}
