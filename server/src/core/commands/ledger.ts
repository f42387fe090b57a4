/** `ledger …`: checks the ledger. */
import { checkLedger } from '../audit/check.js';
import type { LedgerCheck } from '../audit/check-report.js';
import { errorMessage } from '../shared/error-message.js';
import { command, type Group } from './command.js';
import type { CommandContext } from './context.js';
import * as option from './options.js';

export const ledgerCommands: Group = {
  name: 'ledger',
  summary: 'The books.',
  commands: {
    check: command({
      summary: "Checks the ledger's invariants and prints how many records each covers.",
      details: `Exits with 1 if one is violated, or if something could not be read.

With --chain, each address whose contract can only pay to one wallet must hold what the books say, to the unit, at a final block; the wallet may hold more, but not less. Exits with 3 if something is missing, and with 4 if there is a surplus. Dust, which is less than the smallest payment, is only reported. The addresses of extended keys may differ, since your wallet spends from them without this server: such a difference is only reported.`,
      options: {
        chain: option.flag('also compares the books with the nodes, for every network with a node'),
      },
      async run(context, { chain }) {
        const books = await context.database.snapshot((reader) => checkLedger(reader));
        const compared = chain ? await checkChains(context) : { checks: [], unchecked: [] };
        const checks = [...books, ...compared.checks];
        const lines = checks.flatMap(({ invariant, checked, violations, notes }) => [
          `${violations.length === 0 ? 'ok  ' : 'FAIL'}  ${invariant} (${checked} checked)`,
          ...violations.map((violation) => `      ${violation}`),
          ...(notes ?? []).map((note) => `      Note: ${note}`),
        ]);
        const note =
          compared.unchecked.length > 0
            ? `\n      Not compared with the chain: ${compared.unchecked.join(', ')}`
            : '';
        const violated = checks.filter(({ violations }) => violations.length > 0);
        return {
          json: checks,
          text: lines.join('\n') + note,
          hasFailed: violated.some(({ kind }) => kind === undefined),
          exitCode: violated.some(({ kind }) => kind === 'shortage') ? 3 : violated.length > 0 ? 4 : 0,
        };
      },
    }),
  },
};

/** @returns the checks, and the networks whose nodes cannot say what an address holds */
async function checkChains({ connected, hooks, progress, signal }: CommandContext) {
  const checks: LedgerCheck[] = [];
  const unchecked: string[] = [];
  for (const on of connected) {
    const { code, mode } = on.network;
    progress(`${code}: reading balances`);
    try {
      checks.push(...(await hooks.compareWithChain(on, signal)));
    } catch (error) {
      checks.push(unread(`The forwarders were read on ${code} (${mode})`, error));
    }
  }
  for (const on of connected) {
    const { code, mode } = on.network;
    progress(`${code}: reading wallets`);
    try {
      const compared = await hooks.compareWallets(on, signal);
      if (compared) checks.push(...compared);
      else unchecked.push(`${code} (${mode})`);
    } catch (error) {
      checks.push(unread(`The wallets of extended keys were read on ${code} (${mode})`, error));
    }
  }
  return { checks, unchecked };
}

function unread(invariant: string, error: unknown): LedgerCheck {
  return { invariant, checked: 0, violations: [`It could not be read: ${errorMessage(error)}`] };
}
