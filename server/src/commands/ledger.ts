/** `ledger …`: checks the ledger. */
import { checkLedger } from '../audit/check.js';
import type { Command } from './command.js';

export const ledgerCommands: Readonly<Record<string, Command>> = {
  'ledger check': {
    usage: 'ledger check',
    help: "Checks the ledger's invariants and prints how many records each covers. Exits with 1 if one is violated.",
    options: {},
    positionals: [],
    async run({ database }) {
      const checks = await database.snapshot((reader) => checkLedger(reader));
      const lines = checks.flatMap(({ invariant, checked, violations }) => [
        `${violations.length === 0 ? 'ok  ' : 'FAIL'}  ${invariant} (${checked} checked)`,
        ...violations.map((violation) => `      ${violation}`),
      ]);
      const hasFailed = checks.some(({ violations }) => violations.length > 0);
      return { json: checks, text: lines.join('\n'), hasFailed };
    },
  },
};
