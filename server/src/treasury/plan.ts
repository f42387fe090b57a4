/** Plans sweeps: what each forwarder holds, what it costs to fetch it, and what is too small to be worth it. */
import { hexToBytes } from '@noble/hashes/utils.js';
import { createContract } from 'micro-eth-signer/abi.js';
import { coinOf, fromChain } from '../chains/assets.js';
import { hexOf } from '../chains/evm/abi.js';
import type { ConnectedNetwork } from '../chains/connect.js';
import type { EvmClient, GasPrice } from '../chains/evm/client.js';
import { unlessRefused } from '../rpc/node-error.js';
import type { EvmNodes } from '../chains/evm/evm-nodes.js';
import { chunksOf } from '../db/chunks.js';
import { convert } from '../money/rates.js';
import { forwarderFactory, nativeToken, sweepData, type SweepBatch } from './factory.js';
import type { EvmConnected, TreasuryContext } from './context.js';
import { safeBatch } from './safe-batch.js';
import { readPaidForwarders } from './sweep-store.js';
import { groupBy } from '../shared/group-by.js';

/** What `npm run bench -- sweeps` measured, rounded up: see docs/treasury.md. */
const sweepGas = {
  /** An address that is deployed by the sweep, and one that was deployed before. */
  first: 70_000n,
  later: 25_000n,
} as const;

/** Networks that are built on the OP stack answer with what the data of a transaction costs beside its gas. */
const opStackOracle = '0x420000000000000000000000000000000000000F';
const oracle = createContract([
  {
    type: 'function',
    name: 'getL1Fee',
    inputs: [{ name: 'data', type: 'bytes' }],
    outputs: [{ name: 'fee', type: 'uint256' }],
  },
] as const);

/** What the data of a call costs beside its gas, in wei; 0 on most networks. */
async function readDataFee(evm: EvmClient, data: string): Promise<bigint> {
  const call = hexOf(oracle.getL1Fee.encodeInput(hexToBytes(data.slice(2))));
  const answer = await unlessRefused(evm.call({ to: opStackOracle, data: call }));
  return answer?.length === 66 ? BigInt(answer) : 0n;
}

/** One asset at one forwarder. */
export interface SweepItem {
  readonly merchantId: string;
  readonly address: string;
  readonly treasury: string;
  readonly salt: string;
  readonly currency: string;
  /** The contract, or `nativeToken`. */
  readonly token: string;
  /** In units of the currency. */
  readonly units: bigint;
  readonly isDeployed: boolean;
  /** In units of the base currency; undefined without a rate. */
  readonly worth: bigint | undefined;
  readonly cost: bigint | undefined;
  /** Why it is left where it is; undefined if it is to be swept. */
  readonly skipped: Skipped | undefined;
}

/** `small`: worth less than its gas, or than the minimum. `open`: its payment still waits for money. `fails`: the call reverts. */
export type Skipped = 'small' | 'open' | 'fails';

export interface SweepPlan {
  readonly network: ConnectedNetwork['network'];
  readonly chainId: number;
  readonly baseCurrency: string;
  readonly gasPrice: GasPrice;
  readonly items: readonly SweepItem[];
}

export interface PlanRequest {
  readonly network: EvmConnected;
  /** All merchants if it is undefined. */
  readonly merchantId: string | undefined;
  /** A currency with a rate. */
  readonly baseCurrency: string;
  /** In units of the base currency: what is worth less stays, whatever its gas costs. */
  readonly minimum: bigint;
  /** Looks at all addresses that were given out, on whatever network. */
  readonly everything: boolean;
}

/** @throws NodesUnavailable */
export async function planSweeps(
  deps: TreasuryContext,
  request: PlanRequest,
  signal: AbortSignal,
): Promise<SweepPlan> {
  const { network, merchantId, baseCurrency, everything } = request;
  const { evm, chainAssets, chainId } = network;
  const keys = (await deps.depositKeys.list(deps.database.reader, merchantId)).filter(
    ({ mode, treasury }) => mode === network.network.mode && treasury !== undefined,
  );
  // A treasury that was set a second time has two records, and one source.
  const sources = new Map(
    keys.map((key) => [key.sourceId, deps.depositKeys.preview(key, key.family, key, undefined)]),
  );
  const scopes = new Map(keys.map((key) => [key.merchantId, { merchantId: key.merchantId, mode: key.mode }]));
  const gasPrice = await evm.run((node) => node.gasPrice(), signal);
  const found: Omit<SweepItem, 'cost' | 'skipped'>[] = [];
  const open = new Set<string>();
  for (const scope of scopes.values()) {
    const forwarders = await readPaidForwarders(deps.database.reader, scope, network.network, everything);
    for (const { address, isOpen } of forwarders) if (isOpen) open.add(address);
    const addresses = forwarders.map(({ address }) => address);
    if (addresses.length === 0) continue;
    const codes = await evm.run(
      (node) => Promise.all(addresses.map((address) => node.code(address))),
      signal,
    );
    for (const asset of Object.values(chainAssets)) {
      const { currency, contract } = asset;
      const balances = await evm.run((node) => node.balances(contract, addresses, 'latest'), signal);
      for (const [position, { address, index, sourceId }] of forwarders.entries()) {
        const chainAmount = balances[position] ?? 0n;
        const source = sources.get(sourceId);
        if (chainAmount === 0n || !source?.forwarder) continue;
        const units = fromChain(asset, chainAmount);
        found.push({
          merchantId: scope.merchantId,
          address,
          treasury: source.forwarder.treasury,
          salt: source.forwarder.salt(index),
          currency,
          token: contract ?? nativeToken,
          units,
          isDeployed: codes[position] !== '0x',
          worth: worthOf(deps, units, currency, baseCurrency),
        });
      }
    }
  }
  const items = await priced(deps, request, gasPrice, found, open, signal);
  return { network: network.network, chainId, baseCurrency, gasPrice, items };
}

function worthOf(
  { currencies, rates }: TreasuryContext,
  units: bigint,
  currency: string,
  base: string,
): bigint | undefined {
  const [rate, baseRate] = [rates.latest(currency), rates.latest(base)];
  if (!rate || !baseRate) return undefined;
  return convert(
    units,
    { rate, decimals: currencies.known(currency).decimals },
    { rate: baseRate, decimals: currencies.known(base).decimals },
    'nearest',
  );
}

/** The items that are alike, in the order of their first ones: to be shown as one. */
export function groupItems({ items }: SweepPlan) {
  const groups = groupBy(items, ({ merchantId, treasury, currency, skipped = '' }) =>
    [merchantId, treasury, currency, skipped].join(' '),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { merchantId, treasury, currency, skipped } = first;
    return { merchantId, treasury, currency, skipped, items: group };
  });
}

/** Adds to each item what it costs, and why it stays where it is. */
async function priced(
  deps: TreasuryContext,
  { network: { evm, chainAssets }, baseCurrency, minimum }: PlanRequest,
  { baseFee, priorityFee }: GasPrice,
  found: readonly Omit<SweepItem, 'cost' | 'skipped'>[],
  open: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<SweepItem[]> {
  const coin = coinOf(chainAssets);
  const [sample] = found;
  // What the data of one address costs on layer 2 is the same for each: its salt.
  const dataFee = sample
    ? await evm.run((node) => readDataFee(node, sweepData(batchesOf([sample]))), signal)
    : 0n;
  const failing = await findFailing(evm, found, signal);
  const paysDeployment = new Set<string>();
  return found.map((item): SweepItem => {
    const isFirst = !item.isDeployed && !paysDeployment.has(item.address);
    if (isFirst) paysDeployment.add(item.address);
    const gas = isFirst ? sweepGas.first : sweepGas.later;
    const wei = gas * (baseFee + priorityFee) + dataFee;
    const cost = coin && worthOf(deps, fromChain(coin, wei), coin.currency, baseCurrency);
    const isSmall = item.worth !== undefined && (item.worth < minimum || item.worth <= (cost ?? 0n));
    const skipped = open.has(item.address)
      ? 'open'
      : failing.has(item)
        ? 'fails'
        : isSmall
          ? 'small'
          : undefined;
    return { ...item, cost, skipped };
  });
}

/** The calls as the factory takes them: those of one treasury and token together. */
export function batchesOf(items: readonly Pick<SweepItem, 'treasury' | 'token' | 'salt'>[]): SweepBatch[] {
  return [...groupBy(items, batchName).values()].flatMap((batch) => {
    const [first] = batch;
    return first
      ? [{ treasury: first.treasury, token: first.token, salts: batch.map(({ salt }) => salt) }]
      : [];
  });
}

const batchName = ({ treasury, token }: Pick<SweepItem, 'treasury' | 'token'>) => `${treasury}/${token}`;

const simulatedAtOnce = 50;

/** The items whose sweep would change nothing, because the treasury or the token refuses it. */
async function findFailing<Item extends Pick<SweepItem, 'treasury' | 'token' | 'salt'>>(
  evm: EvmNodes,
  items: readonly Item[],
  signal: AbortSignal,
): Promise<ReadonlySet<Item>> {
  const failing = new Set<Item>();
  for (const group of groupBy(items, batchName).values()) {
    for (const part of chunksOf(group, simulatedAtOnce)) await simulate(part);
  }
  return failing;

  /** One call for many; if it is not all right, one call for each. */
  async function simulate(part: readonly Item[]): Promise<void> {
    const together = await failures([part]);
    if (together[0] === 0n) return;
    const each = part.length === 1 ? together : await failures(part.map((item) => [item]));
    for (const [index, item] of part.entries()) if (each[index] !== 0n) failing.add(item);
  }

  function failures(parts: readonly (readonly Item[])[]): Promise<(bigint | undefined)[]> {
    return evm.run((node) => Promise.all(parts.map((part) => failuresOf(node, batchesOf(part)))), signal);
  }
}

/** How many addresses a sweep would leave as they are; undefined if the whole sweep would fail. */
async function failuresOf(evm: EvmClient, batches: readonly SweepBatch[]): Promise<bigint | undefined> {
  const answer = await unlessRefused(evm.call({ to: forwarderFactory.address, data: sweepData(batches) }));
  return answer === undefined || answer === '0x' ? undefined : BigInt(answer);
}

/** The most balances of one transaction: Ethereum takes none above 16.7 million gas (EIP-7825). */
export const mostBalances = 100;

/** A transaction to the factory. */
export type SweepTransaction = ReturnType<typeof transactionsOf>[number];

/**
 * The transactions of a plan. Each is for one treasury, so that no merchant's treasury can spoil the sweep of another.
 * @param most addresses of one transaction
 */
export function transactionsOf({ items }: Pick<SweepPlan, 'items'>, most: number) {
  const swept = items.filter(({ skipped }) => skipped === undefined);
  const byTreasury = groupBy(swept, ({ merchantId, treasury }) => `${merchantId}/${treasury}`);
  return [...byTreasury.values()]
    .flatMap((list) => chunksOf(list, most))
    .map((part) => ({ to: forwarderFactory.address, data: sweepData(batchesOf(part)), items: part }));
}

/** As calls, and as a batch for Safe. @param most balances of one transaction @param now epoch milliseconds */
export function writeSweep(plan: SweepPlan, most: number, now: number) {
  const transactions = transactionsOf(plan, most);
  return { transactions, safe: safeBatch('Sweep of deposit addresses', plan.chainId, transactions, now) };
}
