/** Plans sweeps: what each forwarder holds, what it costs to fetch it, and what is too small to be worth it. */
import { hexToBytes } from '@noble/hashes/utils.js';
import { createContract } from 'micro-eth-signer/abi.js';
import { coinOf, fromChain } from '../../core/chains/assets.js';
import { hexOf } from '../networks/evm/abi.js';
import type { ConnectedNetwork } from '../../core/chains/connected.js';
import type { EvmClient, GasPrice } from '../networks/evm/client.js';
import { unlessRefused } from '../networks/rpc/node-error.js';
import type { EvmNodes } from '../networks/evm/evm-nodes.js';
import { chunksOf } from '../../core/db/chunks.js';
import { convert } from '../../core/money/rates.js';
import { forwarderFactory } from '../../core/addresses/forwarder-factory.js';
import { nativeToken, sweepData, type SweepBatch } from './factory.js';
import type { EvmConnected, TreasuryContext } from './context.js';
import { safeBatch } from './safe-batch.js';
import { listTreasuries } from './owners.js';
import { readForwarders, type Forwarder } from './sweep-store.js';
import { groupBy } from '../../core/shared/group-by.js';

/** The gas that `npm run bench -- sweeps` measured, rounded up: see docs/treasury.md. */
const sweepGas = {
  /** An address that is deployed by the sweep, and one that was deployed before. */
  first: 70_000n,
  later: 25_000n,
} as const;

/** The gas that a sweep usually takes, apart from that of the transaction itself. */
export const usualGas = (items: readonly Pick<SweepItem, 'isDeployed'>[]): bigint =>
  items.reduce((sum, { isDeployed }) => sum + (isDeployed ? sweepGas.later : sweepGas.first), 0n);

/** Networks that are built on the OP stack report here the cost of a transaction's data in addition to its gas. */
const opStackOracle = '0x420000000000000000000000000000000000000F';
const oracle = createContract([
  {
    type: 'function',
    name: 'getL1Fee',
    inputs: [{ name: 'data', type: 'bytes' }],
    outputs: [{ name: 'fee', type: 'uint256' }],
  },
] as const);

/** The cost of a call's data in addition to its gas, in wei; 0 on most networks. */
async function readDataFee(evm: EvmClient, data: string): Promise<bigint> {
  const call = hexOf(oracle.getL1Fee.encodeInput(hexToBytes(data.slice(2))));
  const answer = await evm.call({ to: opStackOracle, data: call });
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
  /** The reason why it stays; undefined if it should be swept. */
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

/** The currency of worth and cost, if nobody asks for another. */
export const defaultBase = 'USD';

export interface PlanRequest {
  readonly network: EvmConnected;
  /** All merchants if it is undefined. */
  readonly merchantId?: string | undefined;
  /** A currency with a rate. */
  readonly base?: string;
  /** In units of the base currency: an amount worth less stays, whatever its gas costs. */
  readonly minimum?: bigint;
  /** Looks at all addresses that were given out, on whatever network. */
  readonly everything?: boolean;
}

/** @throws NodesUnavailable */
export async function planSweeps(
  deps: TreasuryContext,
  { network: on, merchantId, base = defaultBase, minimum = 0n, everything = false }: PlanRequest,
  signal: AbortSignal,
): Promise<SweepPlan> {
  const { network, evm, chainAssets, chainId } = on;
  const keys = await listTreasuries(deps, deps.database.reader, network.mode, merchantId);
  // A treasury that was set a second time has two records, and one source.
  const sources = new Map(
    keys.map((key) => [
      key.sourceId,
      { merchantId: key.merchantId, ...deps.depositKeys.preview(key, key.family, key, undefined).forwarder },
    ]),
  );
  const forwarders: Forwarder[] = [];
  for await (const page of readForwarders(deps.database.reader, keys, network, everything)) {
    forwarders.push(...page);
  }
  forwarders.sort((a, b) => (a.sourceId < b.sourceId ? -1 : a.sourceId > b.sourceId ? 1 : a.index - b.index));
  const addresses = forwarders.map(({ address }) => address);
  const assets = Object.values(chainAssets);
  const [gasPrice, ...balances] = await evm.run(
    (node) =>
      Promise.all([
        node.gasPrice(),
        ...assets.map(({ contract }) => node.balances(contract, addresses, 'latest')),
      ]),
    signal,
  );
  const held = forwarders.flatMap(({ address, index, sourceId, isOpen }, position) => {
    const { merchantId: owner, treasury, salt } = sources.get(sourceId) ?? {};
    if (owner === undefined || treasury === undefined || salt === undefined) return [];
    return assets.flatMap((asset, place) => {
      const chainAmount = balances[place]?.[position] ?? 0n;
      if (chainAmount === 0n) return [];
      const { currency, contract: token = nativeToken } = asset;
      const units = fromChain(asset, chainAmount);
      return { merchantId: owner, address, treasury, salt: salt(index), currency, token, units, isOpen };
    });
  });
  const codes = await evm.run((node) => Promise.all(held.map(({ address }) => node.code(address))), signal);
  const coin = coinOf(chainAssets);
  const [sample] = held;
  // The cost on layer 2 of the data of one address is the same for each: its salt.
  const dataFee = sample
    ? await evm.run((node) => readDataFee(node, sweepData(batchesOf([sample]))), signal)
    : 0n;
  const failing = await findFailing(evm, held, signal);
  const paysDeployment = new Set<string>();
  const items = held.map((one, position): SweepItem => {
    const { isOpen, ...item } = one;
    const isDeployed = codes[position] !== '0x';
    const isFirst = !isDeployed && !paysDeployment.has(item.address);
    if (isFirst) paysDeployment.add(item.address);
    const gas = isFirst ? sweepGas.first : sweepGas.later;
    const wei = gas * (gasPrice.baseFee + gasPrice.priorityFee) + dataFee;
    const cost = coin && worthOf(deps, fromChain(coin, wei), coin.currency, base);
    const worth = worthOf(deps, item.units, item.currency, base);
    const isSmall = worth !== undefined && (worth < minimum || worth <= (cost ?? 0n));
    const skipped = isOpen ? 'open' : failing.has(one) ? 'fails' : isSmall ? 'small' : undefined;
    return { ...item, isDeployed, worth, cost, skipped };
  });
  return { network, chainId, baseCurrency: base, gasPrice, items };
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

/** Similar items, in the order of their first ones, and their sums: for showing as one. */
export function groupItems({ items }: SweepPlan) {
  const groups = groupBy(items, ({ merchantId, treasury, currency, skipped = '' }) =>
    [merchantId, treasury, currency, skipped].join(' '),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { merchantId, treasury, currency, skipped } = first;
    return {
      merchantId,
      treasury,
      currency,
      skipped,
      addresses: group.length,
      units: group.reduce((sum, item) => sum + item.units, 0n),
      worth: sumOf(group.map(({ worth }) => worth)),
      cost: sumOf(group.map(({ cost }) => cost)),
    };
  });
}

/** Undefined if one is unknown. */
export const sumOf = (values: readonly (bigint | undefined)[]): bigint | undefined =>
  values.reduce<bigint | undefined>(
    (sum, value) => (sum === undefined || value === undefined ? undefined : sum + value),
    0n,
  );

type SweepCall = Pick<SweepItem, 'treasury' | 'token' | 'salt'>;

/** The calls as the factory takes them: those of one treasury and token together. */
function batchesOf(items: readonly SweepCall[]): SweepBatch[] {
  return [...groupBy(items, batchName).values()].flatMap((batch) => {
    const [first] = batch;
    return first
      ? [{ treasury: first.treasury, token: first.token, salts: batch.map(({ salt }) => salt) }]
      : [];
  });
}

const batchName = ({ treasury, token }: SweepCall) => `${treasury}/${token}`;

const simulatedAtOnce = 50;

/** The items whose sweep would change nothing, because the treasury or the token refuses it. */
async function findFailing(
  evm: EvmNodes,
  items: readonly SweepCall[],
  signal: AbortSignal,
): Promise<ReadonlySet<SweepCall>> {
  const failing = new Set<SweepCall>();
  const failures = (parts: readonly (readonly SweepCall[])[]) =>
    evm.run((node) => Promise.all(parts.map((part) => failuresOf(node, batchesOf(part)))), signal);
  for (const group of groupBy(items, batchName).values()) {
    for (const part of chunksOf(group, simulatedAtOnce)) {
      // One call simulates many; if it fails, each gets a call of its own.
      const [together] = await failures([part]);
      if (together === 0n) continue;
      const each = await failures(part.map((item) => [item]));
      for (const [index, item] of part.entries()) if (each[index] !== 0n) failing.add(item);
    }
  }
  return failing;
}

/** The number of addresses that a sweep would leave as they are; undefined if the whole sweep would fail. */
async function failuresOf(evm: EvmClient, batches: readonly SweepBatch[]): Promise<bigint | undefined> {
  const answer = await unlessRefused(evm.call({ to: forwarderFactory.address, data: sweepData(batches) }));
  return answer === undefined || answer === '0x' ? undefined : BigInt(answer);
}

/** The most balances of one transaction: Ethereum takes none above 16.7 million gas (EIP-7825). */
export const mostBalances = 100;

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
