/** `ledger …`: the ledger's check. */
import { checkLedger } from '../audit/check.js';
import type { Command } from './command.js';

export const ledgerCommands: Readonly<Record<string, Command>> = {
  'ledger check': {
    usage: 'ledger check',
    help: "Checks the ledger's invariants, each with how much was checked; exits 1 where one does not hold.",
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
