/** Broadcasts the gas key's transactions, and follows them until one is final: again and again, and with a higher fee if stuck. */
import type { GasTransactionTable } from '../db/schema.js';
import { forwarderFactory } from './factory.js';
import type { TreasuryContext } from './context.js';
import { abandonNonce, endTransaction, recordTransaction, spentLastDay } from './gas-books.js';
import type { SweptNetwork } from './swept-network.js';

/** Any refusal is only logged: whether it was accepted shows later, and until then it is broadcast again. */
export async function broadcast(
  { log }: TreasuryContext,
  { evm, account: { mode, network }, logReason }: SweptNetwork,
  { raw, tx_hash: txHash, addresses }: GasTransactionTable,
  signal: AbortSignal,
): Promise<void> {
  const refusal = await evm.run((node) => node.send(raw), signal);
  if (refusal === undefined) log.info({ mode, network, txHash, addresses }, 'Sweep sent');
  else logReason(`a node refused its transaction: ${refusal}`);
}

/** Follows the attempts of the lowest open nonce. */
export async function followOpen(
  deps: TreasuryContext,
  network: SweptNetwork,
  open: readonly GasTransactionTable[],
  stuckMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { evm, account, logReason } = network;
  const { confirmations } = network.connected.network;
  const attempts = open.filter(({ nonce }) => nonce === open[0]?.nonce);
  const [newest] = attempts;
  if (!newest) return;
  const [head, receipts] = await evm.run(
    (node) => Promise.all([node.blockNumber(), node.receipts(attempts.map(({ tx_hash }) => tx_hash))]),
    signal,
  );
  for (const [index, attempt] of attempts.entries()) {
    const receipt = receipts[index];
    if (!receipt) continue;
    if (head - receipt.height + 1 >= confirmations) await endTransaction(deps, network, attempt, receipt);
    return;
  }
  const final = Math.max(0, head - confirmations + 1);
  if ((await evm.run((node) => node.nonce(account.sender, final), signal)) > newest.nonce) {
    logReason('its nonce was used by another program. No other may use the gas key');
    await abandonNonce(deps, newest);
    return;
  }
  const isStuck = deps.clock.real() - newest.created_at > stuckMs;
  const replacement = isStuck ? await replace(deps, network, newest, signal) : undefined;
  await broadcast(deps, network, replacement ?? newest, signal);
}

/** The same call with the same nonce, and more for the miner. Nodes ask for a tenth more at least. */
async function replace(
  deps: TreasuryContext,
  network: SweptNetwork,
  stuck: GasTransactionTable,
  signal: AbortSignal,
): Promise<GasTransactionTable | undefined> {
  const { evm, account, chainId, limits, logReason } = network;
  const { baseFee, priorityFee } = await evm.run((node) => node.gasPrice(), signal);
  const raised = (fee: string) => (BigInt(fee) * 1125n) / 1000n + 1n;
  const wantedPriorityFee = larger(raised(stuck.priority_fee), priorityFee);
  const wanted = larger(raised(stuck.max_fee), 2n * baseFee + wantedPriorityFee);
  const maxFee = smaller(wanted, limits.maxGasPrice);
  if (maxFee < raised(stuck.max_fee)) {
    logReason('a transaction is stuck, and replacing it would cost more than maxGasPriceGwei');
    return undefined;
  }
  const gasLimit = BigInt(stuck.gas_limit);
  const others = (await spentLastDay(deps, account)) - gasLimit * BigInt(stuck.max_fee);
  if (others + gasLimit * maxFee > limits.dailyBudget) {
    logReason('a transaction is stuck, and replacing it would exceed the daily budget');
    return undefined;
  }
  const maxPriorityFee = smaller(wantedPriorityFee, maxFee);
  const call = { to: forwarderFactory.address, data: stuck.call_data };
  const unsigned = { chainId, nonce: stuck.nonce, gasLimit, maxFee, maxPriorityFee, ...call };
  return recordTransaction(deps, network, unsigned, stuck.attempt + 1, stuck.addresses);
}

export const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
