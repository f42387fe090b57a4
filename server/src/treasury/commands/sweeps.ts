/** `sweeps …`: fetches what lies at the forwarders of treasuries, on EVM networks. */
import { fromUnits, toUnits } from 'crypto-checkout/contract';
import { forwarderFactory } from '../forwarder-factory.js';
import { safeBatch } from '../export.js';
import { evmNetworks, readFactory, type EvmConnected } from '../forwarder-checks.js';
import { planSweeps, transactionsOf, type SweepItem, type SweepPlan } from '../plan.js';
import { listTransactions } from '../gas-transactions.js';
import { isoTime } from '../../shared/clock.js';
import type { GasTransactionTable } from '../../db/schema.js';
import { amountOf } from '../../commands/amounts.js';
import { counted } from '../../commands/counted.js';
import {
  oneOf,
  optional,
  required,
  text,
  UsageError,
  type Command,
  type CommandContext,
  type Options,
} from '../../commands/command.js';

/** Ethereum takes no transaction above 16.7 million gas (EIP-7825). */
const defaultMost = 100;
const mostAtOnce = 200;

const planOptions = {
  network: text,
  merchant: text,
  base: text,
  'min-value': text,
  all: { type: 'boolean' },
} as const;

const planHelp = `  --merchant ID   only the forwarders of this merchant
  --base CODE     the currency of worth and cost (default USD)
  --min-value N   leave what is worth less than this in that currency (default 0). What is worth less than its gas is
                  always left
  --all           look at every address that was given out, for coins that were sent on the wrong network`;

export const sweepCommands: Readonly<Record<string, Command>> = {
  'sweeps plan': {
    usage: 'sweeps plan [--network CODE] [--merchant ID] [--base CODE] [--min-value N] [--all]',
    help: `Shows what lies at the addresses of treasuries, what it costs to fetch it with the gas of now, and what is left: too small
to be worth its gas, of a payment that still waits for money, or refused by the treasury or the token. Changes nothing.

  --network CODE  only this network (default: all EVM networks)
${planHelp}`,
    options: planOptions,
    positionals: [],
    async run(context, options) {
      const networks = chosenNetworks(context, options);
      const plans: SweepPlan[] = [];
      for (const network of networks) {
        context.progress(`${network.network.code}: reading balances`);
        plans.push(await plan(context, network, options));
      }
      return { json: plans.map(planJson), text: plans.map(describePlan).join('\n\n') };
    },
  },
  'sweeps export': {
    usage:
      'sweeps export --network CODE --format json|safe|calldata [--merchant ID] [--base CODE] [--min-value N] [--all] [--most N]',
    help: `Prints the transactions that sweep what "sweeps plan" shows. Any account can send them: whoever does pays the gas, and the
money goes to the treasuries whatever account it is. Treasuries of different merchants get transactions of their own.

  --network CODE  the network
  --format F      json, safe (a file for Safe's transaction builder) or calldata (one line per transaction: to and data)
${planHelp}
  --most N        balances per transaction (default ${defaultMost}, at most ${mostAtOnce}). An address with two coins has two`,
    options: { ...planOptions, format: text, most: text },
    positionals: [],
    async run(context, options) {
      required(options, 'network');
      const format = oneOf(options, 'format', ['json', 'safe', 'calldata']);
      const most = readMost(options);
      const [network] = chosenNetworks(context, options);
      if (!network) throw new UsageError('--network is required');
      context.progress(`${network.network.code}: reading balances`);
      const planned = await plan(context, network, options);
      const transactions = transactionsOf(planned, most);
      const swept = transactions.reduce((sum, { items }) => sum + items.length, 0);
      context.progress(`${counted(swept, 'balance')} in ${counted(transactions.length, 'transaction')}`);
      const json = {
        network: planned.network.code,
        chainId: planned.chainId,
        transactions: transactions.map(({ to, data, items }) => ({
          to,
          value: '0',
          data,
          items: items.map(itemJson),
        })),
      };
      const batch = safeBatch(
        'Sweep of deposit addresses',
        planned.chainId,
        transactions,
        context.clock.real(),
      );
      const output = {
        json: JSON.stringify(json, null, 2),
        safe: JSON.stringify(batch, null, 2),
        calldata: transactions.map(({ to, data }) => `${to} ${data}`).join('\n'),
      }[format];
      return { json: format === 'safe' ? batch : json, text: output };
    },
  },
  'sweeps list': {
    usage: 'sweeps list',
    help: `Lists the last 100 transactions of the gas key, newest first: network, nonce, hash, state and cost. Those with the same
nonce replace each other: one of them gets into a block.`,
    options: {},
    positionals: [],
    async run({ database }) {
      const rows = await listTransactions(database.reader, 100);
      return {
        json: rows.map(transactionJson),
        text: rows.map(transactionLine).join('\n') || 'The gas key has made no transactions',
      };
    },
  },
  'sweeps deploy': {
    usage: 'sweeps deploy --network CODE',
    help: `Prints the transaction that deploys the forwarder factory on a network, if it is not there yet. Any account can send it: the
factory has no owner, and its address and code are the same whoever deploys it. It is not audited.

  --network CODE  the network`,
    options: { network: text },
    positionals: [],
    async run(context, options) {
      required(options, 'network');
      const [network] = chosenNetworks(context, options);
      if (!network) throw new UsageError('--network is required');
      const { name, code } = network.network;
      const { address, deployer, salt, initCode } = forwarderFactory;
      const { problem, hasDeployer } = await readFactory(network.evm, name, new AbortController().signal);
      const transaction = { to: deployer, value: '0', data: salt + initCode.slice(2) };
      const json = { network: code, address, isDeployed: problem === undefined, hasDeployer, transaction };
      if (problem === undefined) {
        return { json, text: `The forwarder factory is at ${address} on ${name}. There is nothing to do.` };
      }
      if (!hasDeployer) {
        return {
          json,
          hasFailed: true,
          text: `The deterministic deployment proxy ${deployer} is not on ${name}, so the factory cannot get its address there.
Deploy the proxy first: https://github.com/Arachnid/deterministic-deployment-proxy has its transaction.`,
        };
      }
      return {
        json,
        text: `Send this from any account with about 0.9 million gas. The factory will be at ${address}.

to     ${transaction.to}
value  0
data   ${transaction.data}`,
      };
    },
  },
};

function chosenNetworks({ connected }: CommandContext, { network: code }: Options): EvmConnected[] {
  const networks = evmNetworks(connected).filter(
    ({ network }) => code === undefined || network.code === code,
  );
  if (networks.length > 0) return networks;
  throw new UsageError(
    typeof code === 'string'
      ? `The network "${code}" is not an EVM network in NETWORKS_FILE`
      : 'No EVM network is configured: NETWORKS_FILE is not set, or has none',
  );
}

async function plan(context: CommandContext, network: EvmConnected, options: Options): Promise<SweepPlan> {
  const { database, depositKeys, currencies, rates, worldRates, merchants } = context;
  const base = optional(options, 'base')?.toUpperCase() ?? 'USD';
  const currency = currencies.all().find(({ code }) => code === base);
  if (!currency) throw new UsageError(`--base: there is no currency ${base}`);
  const merchantId = optional(options, 'merchant');
  if (merchantId !== undefined) await merchants.retrieve(database.reader, merchantId);
  const { signal } = new AbortController();
  await worldRates?.refresh(signal);
  return planSweeps(
    { reader: database.reader, depositKeys, currencies, rates },
    {
      network,
      merchantId,
      baseCurrency: base,
      minimum: minimumOf(options, currency.decimals),
      everything: options['all'] === true,
    },
    signal,
  );
}

function minimumOf(options: Options, decimals: number): bigint {
  const given = optional(options, 'min-value') ?? '0';
  try {
    return toUnits(given, decimals);
  } catch {
    throw new UsageError(`--min-value must be a decimal, not "${given}"`);
  }
}

function readMost(options: Options): number {
  const most = Number(optional(options, 'most') ?? defaultMost);
  if (Number.isInteger(most) && most >= 1 && most <= mostAtOnce) return most;
  throw new UsageError(`--most must be an integer from 1 to ${mostAtOnce}`);
}

function transactionJson(row: GasTransactionTable) {
  const { network, mode, sender, nonce, attempt, status, addresses, currency, cost } = row;
  return {
    ...{ network, mode, sender, nonce, attempt, txHash: row.tx_hash, status, addresses },
    maxFeeGwei: gwei(BigInt(row.max_fee)),
    cost: cost === null ? null : amountOf(cost, currency),
    currency,
    createdAt: isoTime(row.created_at),
  };
}

function transactionLine(row: GasTransactionTable): string {
  const { network, nonce, attempt, txHash, status, addresses, cost, currency, createdAt } =
    transactionJson(row);
  const price = cost === null ? '' : `cost ${cost} ${currency}`;
  return [
    createdAt,
    network,
    `nonce ${nonce}.${attempt}`,
    txHash,
    status,
    counted(addresses, 'balance'),
    price,
  ]
    .filter((part) => part !== '')
    .join('  ');
}

function planJson(planned: SweepPlan) {
  const { network, chainId, baseCurrency, gasPrice, items } = planned;
  return {
    network: network.code,
    mode: network.mode,
    chainId,
    baseCurrency,
    gasPriceGwei: gwei(gasPrice.baseFee + gasPrice.priorityFee),
    items: items.map((item) => ({
      ...itemJson(item),
      isDeployed: item.isDeployed,
      worth: item.worth === undefined ? null : amountOf(item.worth.toString(), baseCurrency),
      cost: item.cost === undefined ? null : amountOf(item.cost.toString(), baseCurrency),
      skipped: item.skipped ?? null,
    })),
  };
}

function itemJson({ merchantId, address, treasury, salt, currency, units }: SweepItem) {
  return {
    merchant: merchantId,
    address,
    treasury,
    salt,
    currency,
    amount: amountOf(units.toString(), currency),
  };
}

const gwei = (wei: bigint): string => fromUnits(wei, 9);

const reasons = {
  small: 'not worth its gas, or less than --min-value',
  open: 'of payments that still wait for money',
  fails: 'refused by the treasury or the token',
} as const;

function describePlan({ network, baseCurrency, gasPrice, items }: SweepPlan): string {
  const lines = [
    `${network.code} (${network.mode}): gas ${gwei(gasPrice.baseFee + gasPrice.priorityFee)} gwei`,
  ];
  if (items.length === 0) return `${lines.join('')}\n  Nothing lies at the addresses of treasuries`;
  const groups = new Map<string, SweepItem[]>();
  for (const item of items) {
    const name = `${item.merchantId}  ${item.treasury}  ${item.currency}  ${item.skipped ?? ''}`;
    groups.set(name, [...(groups.get(name) ?? []), item]);
  }
  for (const group of groups.values()) {
    const [first] = group;
    if (!first) continue;
    const { merchantId, treasury, currency, skipped } = first;
    const sum = (of: (item: SweepItem) => bigint | undefined) =>
      group.reduce((total, item) => total + (of(item) ?? 0n), 0n).toString();
    const worth = `worth ${amountOf(
      sum((item) => item.worth),
      baseCurrency,
    )} ${baseCurrency}`;
    const cost = `gas ${amountOf(
      sum((item) => item.cost),
      baseCurrency,
    )} ${baseCurrency}`;
    const count = `${group.length} ${group.length === 1 ? 'address' : 'addresses'}`;
    const amount = `${amountOf(
      sum((item) => item.units),
      currency,
    )} ${currency}`;
    lines.push(
      `  ${merchantId}  to ${treasury}`,
      `    ${amount} at ${count}, ${worth}, ${cost}${skipped ? `: left, ${reasons[skipped]}` : ''}`,
    );
  }
  return lines.join('\n');
}
