/** `chains reconcile`: compares what addresses hold with the books, and books what is too much. */
import type { StatusPart } from '../../core/hooks.js';
import { checkNow } from './check-now.js';
import type { Finding } from './reconcile.js';
import type { Reconciliation } from './reconciliation.js';
import { fromChain } from '../../core/chains/assets.js';
import { isoTime } from '../../core/shared/clock.js';
import { command, type Group } from '../../core/commands/command.js';
import type { CommandContext } from '../../core/commands/context.js';
import { UsageError } from '../../core/commands/errors.js';
import * as option from '../../core/commands/options.js';
import { amountText, counted, recordJson } from '../../core/commands/records.js';

type Report = Awaited<ReturnType<typeof checkNow>>;

/** @param rules of a running command */
export const reconcileCommands = (rules: (context: CommandContext) => Reconciliation): Group => ({
  name: 'chains',
  summary: 'Checks of the networks against the books.',
  commands: { reconcile: reconcileCommand(rules) },
});

const reconcileCommand = (rules: (context: CommandContext) => Reconciliation) =>
  command({
    summary:
      'Compares what the addresses hold with the books: balance and what left must be what was received.',
    details: `The server does this automatically: at each block for a part of the addresses that wait for money, and for all within a day. A surplus is booked as a receipt of the payment or wallet whose address it is, once a later block, and another node where there is one, says the same. Dust, which is less than the smallest payment, does not.

With --apply, this command does the same now, and books dust too. A difference seen for the first time is only noted: run the command again after the next block. What it books is in the audit log. Exits with 3 if an address holds less than the books say, and with 4 if one holds more that is not dust.

The blocks of Bitcoin and Litecoin name every output, so nothing can arrive unseen there: "chains rescan" reads them again.`,
    options: {
      network: option.code('only this network'),
      mode: option.mode('the mode of the networks'),
      address: option.text('ADDRESS', 'only this address'),
      apply: option.flag('books surpluses that two checks confirm'),
    },
    async run(running, { network: code, mode, address, apply }) {
      const context = { ...running, reconciliation: rules(running) };
      const all = context.reconciliation.networks.filter(({ network }) => network.mode === mode);
      const networks = all.filter(({ network }) => (code ?? network.code) === network.code);
      if (networks.length === 0)
        throw new UsageError('There is no such network with a node that reports balances');
      const reports: Report[] = [];
      for (const network of networks) {
        context.progress(`${network.network.code}: reading balances`);
        const given = { address, apply, actor: context.actor };
        reports.push(await checkNow(context, network, given, context.signal));
      }
      const found = reports.flatMap((report) => report.findings);
      return {
        json: reports.map(reportJson),
        text: reports.flatMap(reportLines).join('\n'),
        exitCode: exitCodeOf(found.filter(({ outcome }) => outcome !== 'credited' && outcome !== 'dust')),
      };
    },
  });

/** 3: something is missing; 4: there is too much. */
function exitCodeOf(differences: readonly { readonly units: bigint }[]): 0 | 3 | 4 {
  if (differences.some(({ units }) => units < 0n)) return 3;
  return differences.some(({ units }) => units > 0n) ? 4 : 0;
}

const reportJson = ({ findings, ...report }: Report) => ({
  ...report,
  differences: findings.map(({ address, currency, units, outcome }) => ({
    address,
    currency,
    amount: amountText(units, currency),
    outcome,
  })),
});

const outcomes: Readonly<Record<Finding['outcome'], string>> = {
  none: '',
  seen: 'seen once: run this again after the next block',
  credited: 'credited',
  dust: 'dust: --apply books it',
  shortage: 'less than the books say',
};

function reportLines({ network, height, checked, findings }: Report): string[] {
  const lines = findings.map(({ address, currency, units, outcome }) => {
    const sign = units > 0n ? '+' : '';
    return `  ${address}  ${sign}${amountText(units, currency)}  ${outcomes[outcome]}`.trimEnd();
  });
  const summary = `${network}: ${counted(checked, 'address', 'addresses')} at block ${height}, ${counted(findings.length, 'difference')}`;
  return [summary, ...lines];
}

/** The part of `chains status`: how far the balances were compared, and where they differ. */
export async function balanceStatus(reconciliation: Reconciliation): Promise<StatusPart> {
  const { networks } = reconciliation;
  const { rounds } = await reconciliation.status();
  const found = (await reconciliation.differences()).map((row) => {
    const asset = networks.find(({ network }) => network.mode === row.mode && network.code === row.network)
      ?.chainAssets[row.currency];
    const amount = asset && amountText(fromChain(asset, row.difference), row.currency);
    return { ...row, amount: amount ?? `${row.difference} of the chain's units of ${row.currency}` };
  });
  return {
    hasFailed: found.some(({ state }) => state === 'shortage'),
    json: {
      balances: rounds.map((row) =>
        recordJson(row, 'mode', 'network', 'height', 'unread', 'position', 'last_position', 'finished_at'),
      ),
      differences: found.map((row) =>
        recordJson(row, 'mode', 'network', 'address', 'state', 'amount', 'above', 'height', 'found_at'),
      ),
    },
    lines: [
      ...rounds.map(({ mode, network, height, unread, finished_at: at }) => {
        const round = at === null ? 'all for the first time soon' : `all at ${isoTime(at)}`;
        const blind = unread === 0 ? [] : [`${counted(unread, 'block')} without balances`];
        return [mode, network, `balances at block ${height}`, round, ...blind].join('  ');
      }),
      ...found.map(({ mode, network, address, state, amount, found_at: at }) =>
        [mode, network, address, state, amount, `since ${isoTime(at)}`].join('  '),
      ),
    ],
  };
}
