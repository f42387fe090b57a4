/** `sweeps …`: sweeps what the forwarders of treasuries hold, on EVM networks. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { fromUnits } from 'crypto-checkout/contract';
import { forwarderFactory } from '../../../core/addresses/forwarder-factory.js';
import { evmNetworks, type EvmConnected } from '../context.js';
import { readFactory } from '../forwarder-checks.js';
import {
  defaultBase,
  groupItems,
  mostBalances,
  writeSweep,
  type SweepItem,
  type SweepPlan,
} from '../plan.js';
import { listTransactions } from '../gas-transactions.js';
import { createKeystore } from '../key-file.js';
import type { Treasury } from '../treasury.js';
import { parseAmount } from '../../../core/money/amounts.js';
import { isoTime } from '../../../core/shared/clock.js';
import { command, type Group, type Output } from '../../../core/commands/command.js';
import type { CommandContext } from '../../../core/commands/context.js';
import { UsageError } from '../../../core/commands/errors.js';
import { isMissing, readGivenFile, writeNewFile } from '../../../core/commands/files.js';
import * as option from '../../../core/commands/options.js';
import { listCommand, noFilters } from '../../../core/commands/read-commands.js';
import { amountOf, amountText, counted, recordJson } from '../../../core/commands/records.js';
import type { GasTransactionRow } from '../tables.js';

const planOptions = {
  merchant: option.merchant('only the forwarders of this merchant'),
  base: option.code('the currency of worth and cost').default(defaultBase),
  minValue: option
    .decimal(
      'leave what is worth less than this in that currency. What is worth less than its gas is always left',
    )
    .default('0'),
  all: option.flag('look at every address that was given out, for coins that were sent on the wrong network'),
};
const network = option.code('the network').required();

/** Makes the key that pays the gas of sweeps. */
const newGasKey = command({
  summary: 'Makes a gas key, and writes it encrypted (keystore V3).',
  details:
    "Send its address some of the network's own coin, and set GAS_KEY_FILE and GAS_KEY_PASSWORD_FILE. A thief of the key gains only the gas in it.",
  options: {
    file: option.newFile('where to write the keystore').required(),
    passwordFile: option
      .file('a file with the password that encrypts it. If there is none, it gets a random one')
      .required(),
  },
  async runAlone({ file, passwordFile }) {
    const given = (await isMissing(passwordFile)) ? undefined : await readGivenFile(passwordFile);
    const password = given?.toString('utf8').replace(/\r?\n$/, '') ?? randomBytes(24).toString('base64url');
    if (password.length < 12) {
      throw new UsageError('--password-file: the password needs at least 12 characters');
    }
    const { keystore, address } = await createKeystore(password);
    await writeNewFile(file, (created) => created.writeFile(`${keystore}\n`));
    if (!given) {
      // A keystore that nothing opens would take the name of a good one.
      await writeNewFile(passwordFile, (created) => created.writeFile(`${password}\n`)).catch(
        async (error: unknown) => {
          await rm(file);
          throw error;
        },
      );
    }
    const made = given ? '' : `, and its password in ${passwordFile}`;
    return { json: { address, file }, text: `The gas key ${address} is in ${file}${made}` };
  },
});

type RulesOf = (context: CommandContext) => Treasury;

/** @param rules of a running command */
export const sweepCommands = (rules: RulesOf): Group => ({
  name: 'sweeps',
  summary: 'Sweeps of the money at the addresses of treasuries, on EVM networks.',
  commands: {
    plan: command({
      summary:
        'Shows what the addresses of treasuries hold, what it costs to fetch it at the current gas price, and what stays behind because it is too small to be worth its gas, belongs to a payment that still waits for money, or is refused by the treasury or the token.',
      details: 'Changes nothing.',
      options: {
        network: option.code('only this network (default: all EVM networks)'),
        ...planOptions,
      },
      async run(context, { network: code, ...given }) {
        const plans: SweepPlan[] = [];
        for (const chosen of chosenNetworks(context, code))
          plans.push(await plan(rules, context, chosen, given));
        return { json: plans.map(planJson), text: plans.map(describePlan).join('\n\n') };
      },
    }),
    export: command({
      summary: 'Prints the transactions that sweep what "sweeps plan" shows.',
      details:
        'Any account can send them: the account that does pays the gas, and the money always goes to the treasuries. Treasuries of different merchants get transactions of their own.',
      options: {
        network,
        format: option.format(
          ['json', 'safe', 'calldata'],
          "json, safe (a file for Safe's transaction builder) or calldata (one line per transaction: to and data)",
        ),
        ...planOptions,
        most: option
          .integer('N', 'balances per transaction; an address with two coins has two', { min: 1, max: 200 })
          .default(mostBalances),
      },
      async run(context, { network: code, format, most, ...given }) {
        const planned = await plan(rules, context, chosenNetwork(context, code), given);
        const { transactions, safe } = writeSweep(planned, most, context.clock.real());
        const swept = transactions.reduce((sum, { items }) => sum + items.length, 0);
        context.progress(`${counted(swept, 'balance')} in ${counted(transactions.length, 'transaction')}`);
        const { chainId } = planned;
        const json = {
          network: code,
          chainId,
          transactions: transactions.map(({ to, data, items }) => ({
            to,
            value: '0',
            data,
            items: items.map(itemJson),
          })),
        };
        const lines = transactions.map(({ to, data }) => `${to} ${data}`);
        return writtenAs(format, json, safe, lines);
      },
    }),
    list: listCommand(noFilters, {
      summary:
        'Lists the last 100 transactions of the gas key, newest first: network, nonce, hash, state and cost.',
      details: 'Those with the same nonce replace each other: one of them gets into a block.',
      what: 'sweeps to the treasuries',
      none: 'The gas key has made no transactions',
      async rows({ database: { reader }, depositKeys }, { merchantId }) {
        const keys = merchantId === undefined ? undefined : await depositKeys.list(reader, merchantId);
        const treasuries = keys?.flatMap(({ treasury }) => treasury ?? []);
        return listTransactions(reader, 100, treasuries);
      },
      json: transactionJson,
      line: transactionLine,
    }),
    deploy: command({
      summary:
        'Prints the transaction that deploys the forwarder factory on a network, if it is not there yet.',
      details:
        'Any account can send it: the factory has no owner, and its address and code are the same no matter who deploys it. It is not audited. A network is offered to merchants with a treasury once the factory is on it. docs/treasury.md says what can go wrong.',
      options: { network },
      async run(context, given) {
        const chosen = chosenNetwork(context, given.network);
        const { name, code } = chosen.network;
        const { address, deployer, salt, initCode } = forwarderFactory;
        const { problem, hasDeployer } = await readFactory(chosen.evm, name, context.signal);
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
    }),
    'new-key': newGasKey,
  },
});

function chosenNetworks(context: CommandContext, code: string | undefined): EvmConnected[] {
  if (code !== undefined) return [chosenNetwork(context, code)];
  const networks = evmNetworks(context.connected);
  if (networks.length > 0) return networks;
  throw new UsageError('No EVM network is configured: NETWORKS_FILE is not set, or has none');
}

/** The EVM network that an operator named. */
export function chosenNetwork({ connected }: CommandContext, code: string): EvmConnected {
  const found = evmNetworks(connected).find(({ network }) => network.code === code);
  if (found) return found;
  throw new UsageError(`The network "${code}" is not an EVM network in NETWORKS_FILE`);
}

/** For a wallet: as JSON, as a batch for Safe, or, for people and scripts, as one line for each transaction. */
export function writtenAs(format: string, json: object, safe: object, lines: readonly string[]): Output {
  if (format === 'safe') return { json: safe, text: JSON.stringify(safe, null, 2) };
  return { json, text: format === 'json' ? JSON.stringify(json, null, 2) : lines.join('\n') };
}

interface GivenPlan {
  readonly merchant: string | undefined;
  readonly base: string;
  readonly minValue: string;
  readonly all: boolean;
}

async function plan(
  rules: RulesOf,
  context: CommandContext,
  network: EvmConnected,
  given: GivenPlan,
): Promise<SweepPlan> {
  const { currencies, worldRates, signal } = context;
  const { merchant: merchantId, base, minValue, all: everything } = given;
  context.progress(`${network.network.code}: reading balances`);
  const currency = currencies.all().find(({ code }) => code === base.toUpperCase());
  if (!currency) throw new UsageError(`--base: there is no currency ${base.toUpperCase()}`);
  await worldRates?.refresh(signal);
  const minimum = parseAmount(minValue, currency, '--min-value', currency.decimals);
  const asked = { network, merchantId, base: currency.code, minimum, everything };
  return rules(context).planSweeps(asked, signal);
}

function transactionJson(row: GasTransactionRow) {
  const { cost, currency } = row;
  return {
    ...recordJson(row, 'network', 'mode', 'sender', 'nonce', 'attempt', 'tx_hash', 'status', 'addresses'),
    maxFeeGwei: gwei(row.max_fee),
    cost: cost === null ? null : amountOf(cost, currency),
    ...recordJson(row, 'currency', 'created_at'),
  };
}

function transactionLine(row: GasTransactionRow): string {
  const { network, nonce, attempt, tx_hash: txHash, status, addresses, cost, currency } = row;
  const price = cost === null ? [] : [`cost ${amountText(cost, currency)}`];
  const swept = counted(addresses, 'balance');
  const time = isoTime(row.created_at);
  return [time, network, `nonce ${nonce}.${attempt}`, txHash, status, swept, ...price].join('  ');
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
      worth: item.worth === undefined ? null : amountOf(item.worth, baseCurrency),
      cost: item.cost === undefined ? null : amountOf(item.cost, baseCurrency),
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
    amount: amountOf(units, currency),
  };
}

const gwei = (wei: bigint): string => fromUnits(wei, 9);

const reasons = {
  small: 'not worth its gas, or less than --min-value',
  open: 'of payments that still wait for money',
  fails: 'refused by the treasury or the token',
} as const;

function describePlan(planned: SweepPlan): string {
  const { network, baseCurrency, gasPrice } = planned;
  const lines = [
    `${network.code} (${network.mode}): gas ${gwei(gasPrice.baseFee + gasPrice.priorityFee)} gwei`,
  ];
  if (planned.items.length === 0) return `${lines.join('')}\n  The addresses of treasuries hold nothing`;
  for (const { merchantId, treasury, currency, skipped, ...sums } of groupItems(planned)) {
    const amount = `${amountText(sums.units, currency)} at ${counted(sums.addresses, 'address', 'addresses')}`;
    const worth = `worth ${amountText(sums.worth ?? 0n, baseCurrency)}`;
    const cost = `gas ${amountText(sums.cost ?? 0n, baseCurrency)}`;
    lines.push(
      `  ${merchantId}  to ${treasury}`,
      `    ${amount}, ${worth}, ${cost}${skipped ? `: left, ${reasons[skipped]}` : ''}`,
    );
  }
  return lines.join('\n');
}
