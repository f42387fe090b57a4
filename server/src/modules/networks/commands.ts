/** `networks …`: checks the nodes of the real networks, and shows what a payer would be offered. */
import type { ConnectedNetwork, NetworkFinding } from '../../core/chains/connected.js';
import { errorMessage } from '../../core/shared/error-message.js';
import { doubtProviders } from './rpc/providers.js';
import { createDepths } from '../../core/payments/depth.js';
import { currencyOptions } from '../../core/payments/quote.js';
import { command, type Group } from '../../core/commands/command.js';
import type { CommandContext } from '../../core/commands/context.js';
import { UsageError } from '../../core/commands/errors.js';
import * as option from '../../core/commands/options.js';

/** The price that the offers are for: ten US dollars. */
const exampleUnits = 1000n;
const previewed = 3;

type CheckedNetwork = Awaited<ReturnType<typeof check>>;

export const networkCommands: Group = {
  name: 'networks',
  summary: 'The real networks in NETWORKS_FILE.',
  commands: {
    check: command({
      summary:
        "Connects to the nodes of the networks in NETWORKS_FILE, and shows what each is, how far it is and what it can do, the first addresses of a merchant's deposit key, and what its payers would be offered for 10 USD.",
      details: 'Says what it is doing while it works. Exits with 1 if there is a problem.',
      options: {
        network: option.code('only this network'),
        merchant: option.merchant(
          'whose addresses and offers to show (default: the only merchant, if there is one)',
        ),
      },
      async run(context, { network: code, merchant }) {
        const networks = context.connected.filter(
          ({ network }) => code === undefined || network.code === code,
        );
        if (networks.length === 0) {
          throw new UsageError(
            code === undefined
              ? 'No network is configured: NETWORKS_FILE is not set, or its networks are empty'
              : `The network "${code}" is not in NETWORKS_FILE`,
          );
        }
        const merchantId = merchant ?? (await onlyMerchant(context));
        const rateProblem = await refreshRates(context);
        const checked: CheckedNetwork[] = [];
        for (const connected of networks) checked.push(await check(context, connected, merchantId));
        const problems = checked.flatMap(({ findings }) => findings.filter(({ kind }) => kind === 'problem'));
        const notes = [
          ...(merchantId === undefined
            ? ['--merchant ID shows the addresses and offers of a merchant.']
            : []),
          ...(rateProblem === undefined ? [] : [rateProblem]),
        ];
        const summary =
          ['There is no problem.', 'There is a problem.'][problems.length] ??
          `There are ${problems.length} problems.`;
        return {
          json: { networks: checked, notes },
          text: [...checked.map(describe), ...notes, summary].join('\n\n'),
          hasFailed: problems.length > 0,
        };
      },
    }),
  },
};

async function onlyMerchant({ database, merchants }: CommandContext): Promise<string | undefined> {
  const [first, ...others] = await merchants.list(database.reader);
  return others.length === 0 ? first?.id : undefined;
}

/** @returns the problem with the rates, if payers could not be offered every coin */
async function refreshRates({ worldRates, signal }: CommandContext): Promise<string | undefined> {
  await worldRates?.refresh(signal);
  const failing = worldRates?.sources().filter(({ problem }) => problem !== undefined) ?? [];
  if (failing.length === 0) return undefined;
  return `Exchange rates: ${failing.map(({ name, problem = '' }) => `${name}: ${problem}`).join('. ')}.`;
}

async function check(context: CommandContext, connected: ConnectedNetwork, merchantId: string | undefined) {
  const { network } = connected;
  const findings: NetworkFinding[] = [];
  const problem = (what: string) => findings.push({ subject: network.code, kind: 'problem', text: what });
  context.progress(`${network.code}: asking its nodes`);
  try {
    for await (const finding of connected.check(context.signal)) findings.push(finding);
  } catch (error) {
    problem(errorMessage(error));
  }
  for (const { node, text } of doubtProviders(connected.nodes)) {
    findings.push({ subject: node, kind: 'warning', text });
  }
  const { mode, family, addressNet } = network;
  const source = merchantId && context.depositKeys.sources.find({ merchantId, mode }, family, addressNet);
  if (merchantId !== undefined && !source) {
    problem(
      `The merchant has no deposit key for it: deposit-keys set --merchant ${merchantId} --mode ${mode} --family ${family} --xpub …`,
    );
  }
  findings.push(...(await checkModules(context, connected, merchantId)));
  const notOffered = findUnusable(connected, findings);
  const off = [...new Set(findings.flatMap(({ currency }) => currency ?? []))];
  return {
    network: network.code,
    mode: network.mode,
    findings,
    /** The first addresses of the merchant's key; empty without one. */
    addresses: source ? Array.from({ length: previewed }, (_, index) => source.derive(index)) : [],
    /** The offers to a payer of the merchant for 10 USD. */
    offers: source && notOffered === undefined ? offersOn(context, connected, off) : [],
    /** Why nothing is offered, if it is because of a finding. */
    notOffered,
    /** The currencies that are not offered, each because of a finding. */
    off,
  };
}

/** The findings of modules. */
async function checkModules(
  { hooks, signal }: CommandContext,
  connected: ConnectedNetwork,
  merchantId: string | undefined,
): Promise<readonly NetworkFinding[]> {
  try {
    return await hooks.checkNetwork(connected, merchantId, signal);
  } catch (error) {
    return [{ subject: connected.network.code, kind: 'problem', text: errorMessage(error) }];
  }
}

/** Why payers cannot be offered the network at all, whatever currency; undefined if they can. */
function findUnusable(
  { network, nodes }: ConnectedNetwork,
  findings: readonly NetworkFinding[],
): string | undefined {
  const failing = new Set(
    findings.flatMap(({ kind, currency, subject }) =>
      kind === 'problem' && currency === undefined ? [subject] : [],
    ),
  );
  if (failing.has(network.code)) return 'there is a problem, see above';
  const isUsable = nodes.some((_, index) => !failing.has(`node ${index + 1}`));
  return isUsable ? undefined : 'no node can be used, see above';
}

/** @param off currencies that cannot be read */
function offersOn(
  { currencies, rates }: CommandContext,
  { network }: ConnectedNetwork,
  off: readonly string[],
) {
  const usd = currencies.known('USD');
  const rate = rates.latest('USD');
  if (!rate) return [];
  return currencyOptions(
    { units: exampleUnits, currency: usd, rate },
    currencies
      .options(network.mode)
      .filter((option) => option.network === network && !off.includes(option.currency.code)),
    (currency) => rates.latest(currency),
    createDepths(rates, currencies),
    0,
  ).map(({ currency, amount }) => ({ currency, amount }));
}

const marks = { ok: 'ok      ', warning: 'warning ', problem: 'PROBLEM ' } as const;

function describe(checked: CheckedNetwork): string {
  const { network, mode, findings, addresses, offers, notOffered, off } = checked;
  const lines = findings.map(({ subject, kind, text: what }) => `  ${marks[kind]} ${subject}: ${what}`);
  if (addresses.length > 0) {
    lines.push('  first addresses', ...addresses.map((address, index) => `    ${index}  ${address}`));
    const offered = offers.map(({ currency, amount }) => `${amount} ${currency}`).join(', ');
    const nothing = `payable in nothing: ${notOffered ?? 'there are no exchange rates'}`;
    const without = notOffered === undefined && off.length > 0 ? `, not in ${off.join(', ')}: see above` : '';
    lines.push(`  10 USD would be  ${offered || nothing}${without}`);
  }
  return [`${network} (${mode})`, ...lines].join('\n');
}
