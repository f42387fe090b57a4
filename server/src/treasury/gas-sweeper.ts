/**
 * Sweeps by itself with a gas key, which can do nothing but pay for it: the money goes to the treasuries whoever sends the
 * transaction.
 *
 * Why nothing is swept twice: a transaction is signed and stored in one database transaction, before it is broadcast. While
 * one is open, no other is made on the network. Its nonce is in a unique index, so two servers never both take it, and
 * whatever replaces it has the same nonce: of those, a network accepts one. After a crash, the stored one is broadcast again.
 */
import type { Logger } from 'pino';
import { toUnits as parseUnits } from 'crypto-checkout/contract';
import { forwarderFactory } from './forwarder-factory.js';
import type { ConnectedNetwork } from '../chains/connect.js';
import type { SweepSettings } from '../chains/config/networks-file.js';
import { hexOf } from '../chains/evm/read-blocks.js';
import { numberOf, quantityOf } from '../chains/evm/replies.js';
import { isObject } from '../chains/rpc/node-client.js';
import { RpcFailure } from '../chains/rpc/node-error.js';
import type { NodePool } from '../chains/rpc/node-pool.js';
import type { Database } from '../db/database.js';
import type { GasTransactionTable } from '../db/schema.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Clock } from '../shared/clock.js';
import { createFailures } from '../shared/failures.js';
import type { NewId } from '../shared/ids.js';
import { readGasPrice } from './gas.js';
import * as store from './gas-transactions.js';
import { planSweeps, transactionsOf, type PlanDeps, type SweepTransaction } from './plan.js';
import { addressOfPrivateKey, signTransaction } from './transaction.js';
import { feeOf } from './watch-reads.js';

export interface GasSweeper {
  /** Of the gas key, with its checksum. */
  readonly address: string;
  /** Follows the open transactions, and sweeps what is due. */
  advance(signal: AbortSignal): Promise<void>;
}

export interface GasSweeperDeps extends Omit<PlanDeps, 'reader'> {
  readonly database: Database;
  readonly clock: Pick<Clock, 'real'>;
  readonly newId: NewId;
  readonly ledger: Ledger;
  readonly networks: readonly (ConnectedNetwork & { readonly evm: NodePool })[];
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** How often a network's addresses are looked at; every five blocks by default, and at least once a minute. */
  readonly planEveryMs?: number | undefined;
  /** After how long a transaction that is in no block is replaced by one that pays more; five minutes by default. */
  readonly stuckMs?: number | undefined;
}

const dayMs = 86_400_000;
const mostAddresses = 100;
const dollarDecimals = 2;

/** @param privateKey 32 bytes */
export function createGasSweeper(deps: GasSweeperDeps, privateKey: Uint8Array): GasSweeper {
  const { database, clock, newId, ledger, log, stuckMs = 300_000 } = deps;
  const sender = addressOfPrivateKey(privateKey);
  const networks = deps.networks.flatMap((network) => {
    const coin = Object.entries(network.chainAssets).find(([, { contract }]) => contract === undefined)?.[0];
    const chainId = 'chainId' in network.identity ? network.identity.chainId : undefined;
    return network.sweeps && coin !== undefined && chainId !== undefined
      ? [{ ...network, coin, chainId, limits: limitsOf(network.sweeps) }]
      : [];
  });
  type Swept = (typeof networks)[number];
  const plannedAt = new Map<Swept, number>();
  const said = new Map<Swept, string>();

  const accountOf = ({ network: { mode, code } }: Swept): store.GasAccount => ({
    mode,
    network: code,
    sender,
  });

  /** Says why nothing is swept, once until the reason is another. */
  function say(network: Swept, reason: string): void {
    if (said.get(network) === reason) return;
    said.set(network, reason);
    const { mode, code } = network.network;
    log.warn({ mode, network: code }, `The gas key ${sender} does not sweep: ${reason}`);
  }

  async function advanceNetwork(network: Swept, signal: AbortSignal): Promise<void> {
    const open = await store.openTransactions(database.reader, accountOf(network));
    if (open.length > 0) {
      await follow(network, open, signal);
      return;
    }
    const now = performance.now();
    const { planEveryMs = Math.min(60_000, Math.max(2000, 5000 * network.blockSeconds)) } = deps;
    if (now - (plannedAt.get(network) ?? -Infinity) < planEveryMs) return;
    plannedAt.set(network, now);
    // Before the plan: if another server sweeps meanwhile, this nonce is taken, and the outdated plan is dropped.
    const nonce = await readNonce(network, 'latest', signal);
    if (nonce < (await store.nextNonce(database.reader, accountOf(network)))) {
      // A reorganisation has dropped what was mined.
      await reopen(network, nonce);
      return;
    }
    const due = await findDue(network, signal);
    if (due) await send(network, due, nonce, signal);
  }

  function readNonce({ evm }: Swept, block: string, signal: AbortSignal): Promise<number> {
    return evm.run(
      async (node) => numberOf(await node.call('eth_getTransactionCount', [sender, block], signal)),
      signal,
    );
  }

  /** What is worth most among the treasuries that have more than the threshold. */
  async function findDue(network: Swept, signal: AbortSignal): Promise<SweepTransaction | undefined> {
    const { limits } = network;
    const { baseFee, priorityFee } = await readGasPrice(network.evm, signal);
    if (baseFee + priorityFee > limits.maxGasPrice) {
      say(network, 'gas costs more than maxGasPriceGwei');
      return undefined;
    }
    const plan = await planSweeps(
      { ...deps, reader: database.reader },
      { network, merchantId: undefined, baseCurrency: 'USD', minimum: 0n, everything: false },
      signal,
    );
    const worthOf = ({ items }: SweepTransaction) =>
      items.reduce((sum, { worth }) => sum + (worth ?? 0n), 0n);
    const byTreasury = transactionsOf(plan, Number.MAX_SAFE_INTEGER).filter(
      (transaction) => worthOf(transaction) >= limits.minValue,
    );
    const [best] = byTreasury.sort((a, b) => (worthOf(b) > worthOf(a) ? 1 : -1));
    if (!best) return undefined;
    // What is worth most goes first.
    const items = [...best.items].sort((a, b) => ((b.worth ?? 0n) > (a.worth ?? 0n) ? 1 : -1));
    return transactionsOf({ items }, mostAddresses)[0];
  }

  async function send(
    network: Swept,
    due: SweepTransaction,
    nonce: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { evm, limits, chainId, coin } = network;
    const { baseFee, priorityFee } = await readGasPrice(evm, signal);
    const [estimate, balance] = await evm.run(
      (node) =>
        node.batch(
          [
            { method: 'eth_estimateGas', params: [{ from: sender, to: due.to, data: due.data }] },
            { method: 'eth_getBalance', params: [sender, 'latest'] },
          ],
          signal,
        ),
      signal,
    );
    if (estimate instanceof RpcFailure) {
      say(network, `its transaction would fail: ${estimate.message}`);
      return;
    }
    if (balance instanceof RpcFailure) throw balance;
    const gasLimit = (quantityOf(estimate) * 12n) / 10n;
    const maxFee = smaller(2n * baseFee + priorityFee, limits.maxGasPrice);
    const most = gasLimit * maxFee;
    if (quantityOf(balance) < most) {
      say(network, `it has too little ${coin} for gas`);
      return;
    }
    if ((await spent(network)) + most > limits.dailyBudget) {
      say(network, 'the daily budget would be exceeded');
      return;
    }
    const fees = { maxFee, maxPriorityFee: smaller(priorityFee, maxFee) };
    const unsigned = { chainId, nonce, gasLimit, to: due.to, data: due.data, ...fees };
    const row = await signAndStore(network, unsigned, 0, due.items.length);
    if (!row) return;
    said.delete(network);
    await broadcast(network, row, signal);
  }

  /** Signs a transaction and stores it. @returns undefined if another process has taken the nonce */
  async function signAndStore(
    network: Swept,
    unsigned: Parameters<typeof signTransaction>[0],
    attempt: number,
    addresses: number,
  ): Promise<GasTransactionTable | undefined> {
    const { txHash, raw } = signTransaction(unsigned, privateKey);
    const row: GasTransactionTable = {
      id: newId(),
      ...accountOf(network),
      nonce: unsigned.nonce,
      attempt,
      tx_hash: txHash,
      raw,
      call_data: unsigned.data,
      addresses,
      currency: network.coin,
      gas_limit: unsigned.gasLimit.toString(),
      max_fee: unsigned.maxFee.toString(),
      priority_fee: unsigned.maxPriorityFee.toString(),
      status: 'open',
      cost: null,
      block_height: null,
      created_at: clock.real(),
      ended_at: null,
    };
    const isNew = await database.write((transaction) => store.insertTransaction(transaction, row));
    return isNew ? row : undefined;
  }

  /** What was spent in the last day, or can still be. */
  async function spent(network: Swept): Promise<bigint> {
    const rows = await store.transactionsSince(database.reader, accountOf(network), clock.real() - dayMs);
    const byNonce = new Map<number, bigint>();
    for (const { nonce, cost, gas_limit: gas, max_fee: fee, status } of rows) {
      const units = cost !== null ? BigInt(cost) : status === 'open' ? BigInt(gas) * BigInt(fee) : 0n;
      const before = byNonce.get(nonce) ?? 0n;
      byNonce.set(nonce, units > before ? units : before);
    }
    return [...byNonce.values()].reduce((sum, units) => sum + units, 0n);
  }

  /** Any error is only said: whether it was accepted shows later, and until then it is broadcast again. */
  async function broadcast(network: Swept, row: GasTransactionTable, signal: AbortSignal): Promise<void> {
    const [answer] = await network.evm.run(
      (node) => node.batch([{ method: 'eth_sendRawTransaction', params: [row.raw] }], signal),
      signal,
    );
    if (!(answer instanceof RpcFailure)) {
      const { mode, code } = network.network;
      log.info({ mode, network: code, txHash: row.tx_hash, addresses: row.addresses }, 'Sweep sent');
      return;
    }
    if (/already known|already imported|known transaction/i.test(answer.message)) return;
    say(network, `a node refused its transaction: ${answer.message}`);
  }

  /** Follows the attempts of the lowest open nonce. */
  async function follow(
    network: Swept,
    open: readonly GasTransactionTable[],
    signal: AbortSignal,
  ): Promise<void> {
    const attempts = open.filter(({ nonce }) => nonce === open[0]?.nonce);
    const [newest] = attempts;
    if (!newest) return;
    const {
      evm,
      network: { confirmations },
    } = network;
    const { head, receipts } = await evm.run(async (node) => {
      const [height, ...found] = await node.batch(
        [
          { method: 'eth_blockNumber', params: [] },
          ...attempts.map(({ tx_hash: hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
        ],
        signal,
      );
      for (const answer of [height, ...found]) if (answer instanceof RpcFailure) throw answer;
      return { head: numberOf(height), receipts: found };
    }, signal);
    for (const [index, receipt] of receipts.entries()) {
      const attempt = attempts[index];
      if (!isObject(receipt) || !attempt) continue;
      const height = numberOf(receipt['blockNumber']);
      if (head - height + 1 >= confirmations) await end(network, attempt, receipt, height);
      return;
    }
    const finalNonce = await readNonce(network, hexOf(Math.max(0, head - confirmations + 1)), signal);
    if (finalNonce > newest.nonce) {
      say(network, 'its nonce was used by another program. No other may use the gas key');
      await database.write((transaction) => store.endNonce(transaction, newest, clock.real()));
      return;
    }
    const replacement =
      clock.real() - newest.created_at > stuckMs ? await replace(network, newest, signal) : undefined;
    await broadcast(network, replacement ?? newest, signal);
  }

  /** The same call with the same nonce, and more for the miner. Nodes ask for a tenth more at least. */
  async function replace(
    network: Swept,
    stuck: GasTransactionTable,
    signal: AbortSignal,
  ): Promise<GasTransactionTable | undefined> {
    const { baseFee, priorityFee } = await readGasPrice(network.evm, signal);
    const raised = (fee: string) => (BigInt(fee) * 1125n) / 1000n + 1n;
    const maxPriorityFee = larger(raised(stuck.priority_fee), priorityFee);
    const maxFee = larger(raised(stuck.max_fee), 2n * baseFee + maxPriorityFee);
    const least = raised(stuck.max_fee);
    const capped = smaller(maxFee, network.limits.maxGasPrice);
    if (capped < least) {
      say(network, 'a transaction is stuck, and replacing it would cost more than maxGasPriceGwei');
      return undefined;
    }
    const gasLimit = BigInt(stuck.gas_limit);
    const others = (await spent(network)) - gasLimit * BigInt(stuck.max_fee);
    if (others + gasLimit * capped > network.limits.dailyBudget) {
      say(network, 'a transaction is stuck, and replacing it would exceed the daily budget');
      return undefined;
    }
    const unsigned = {
      chainId: network.chainId,
      nonce: stuck.nonce,
      gasLimit,
      to: forwarderFactory.address,
      data: stuck.call_data,
      maxFee: capped,
      maxPriorityFee: smaller(maxPriorityFee, capped),
    };
    return signAndStore(network, unsigned, stuck.attempt + 1, stuck.addresses);
  }

  /** Takes back what ended from a nonce on, and was dropped with its blocks. */
  async function reopen(network: Swept, nonce: number): Promise<void> {
    const now = clock.real();
    await database.write(async (transaction) => {
      for (const row of await store.lockTransactionsFrom(transaction, accountOf(network), nonce)) {
        if (row.status === 'open') continue;
        await store.reopen(transaction, row.id);
        if (row.cost === null) continue;
        const fee = BigInt(row.cost);
        await ledger.post(
          transaction,
          {
            key: `ungas:${row.id}:${row.ended_at}`,
            mode: row.mode,
            currency: row.currency,
            entries: [
              { account: { kind: 'gas_paid' }, debit: fee },
              { account: { kind: 'network_fee' }, credit: fee },
            ],
          },
          now,
        );
      }
    });
  }

  /** Books what it cost. The money that it swept is booked by what the chain tells, as that of every sweep. */
  async function end(
    network: Swept,
    row: GasTransactionTable,
    receipt: Readonly<Record<string, unknown>>,
    height: number,
  ): Promise<void> {
    const { mode, code } = network.network;
    const { fee } = feeOf(receipt);
    const isSuccess = receipt['status'] === '0x1';
    const now = clock.real();
    await database.write(async (transaction) => {
      const locked = await store.lockTransactionsFrom(transaction, accountOf(network), row.nonce);
      // Another server with the same key was faster.
      if (locked.find(({ id }) => id === row.id)?.status !== 'open') return;
      await store.endNonce(transaction, row, now);
      await store.endMined(transaction, row.id, {
        status: isSuccess ? 'mined' : 'reverted',
        cost: fee.toString(),
        block_height: height,
        ended_at: now,
      });
      await ledger.post(
        transaction,
        {
          // It can end again, if a reorganisation drops its block.
          key: `gas:${row.id}:${now}`,
          mode,
          currency: network.coin,
          entries: [
            { account: { kind: 'network_fee' }, debit: fee },
            { account: { kind: 'gas_paid' }, credit: fee },
          ],
        },
        now,
      );
    });
    const facts = { mode, network: code, txHash: row.tx_hash };
    if (isSuccess) log.info(facts, 'Sweep confirmed');
    else log.warn(facts, 'A sweep failed on the chain: it cost its gas, and moved nothing');
  }

  return {
    address: sender,
    async advance(signal) {
      const failures = createFailures();
      for (const network of networks) {
        signal.throwIfAborted();
        await failures.collect(() => advanceNetwork(network, signal));
      }
      failures.report('networks could not be swept');
    },
  };
}

interface Limits {
  /** In cents. */
  readonly minValue: bigint;
  /** In wei per gas. */
  readonly maxGasPrice: bigint;
  /** In wei. */
  readonly dailyBudget: bigint;
}

function limitsOf({ minValue, maxGasPriceGwei, dailyBudget }: SweepSettings): Limits {
  return {
    minValue: parseUnits(minValue, dollarDecimals),
    maxGasPrice: parseUnits(maxGasPriceGwei, 9),
    dailyBudget: parseUnits(dailyBudget, 18),
  };
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
