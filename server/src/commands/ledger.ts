/** `ledger …`: checks the ledger. */
import { checkLedger } from '../audit/check.js';
import type { LedgerCheck } from '../audit/check-report.js';
import { errorMessage } from '../shared/error-message.js';
import { compareWithChain, type PlaceBalance } from '../sweeps/chain-balances.js';
import { evmNetworks } from '../sweeps/forwarder-checks.js';
import { amountOf } from './amounts.js';
import type { Command, CommandContext } from './command.js';

export const ledgerCommands: Readonly<Record<string, Command>> = {
  'ledger check': {
    usage: 'ledger check [--chain]',
    help: `Checks the ledger's invariants and prints how many records each covers. Exits with 1 if one is violated.

  --chain   also compares the books with what nodes say lies at the addresses of treasuries and in the treasuries, at a
            final block. At the addresses it must be the same to the unit. A treasury may hold more, but not less`,
    options: { chain: { type: 'boolean' } },
    positionals: [],
    async run(context, { chain }) {
      const checks = await context.database.snapshot((reader) => checkLedger(reader));
      if (chain === true) checks.push(...(await checkChains(context)));
      const lines = checks.flatMap(({ invariant, checked, violations }) => [
        `${violations.length === 0 ? 'ok  ' : 'FAIL'}  ${invariant} (${checked} checked)`,
        ...violations.map((violation) => `      ${violation}`),
      ]);
      const unchecked = chain === true ? networksWithoutCheck(context) : [];
      const note = unchecked.length > 0 ? `\n      Not compared with the chain: ${unchecked.join(', ')}` : '';
      const hasFailed = checks.some(({ violations }) => violations.length > 0);
      return { json: checks, text: lines.join('\n') + note, hasFailed };
    },
  },
};

/** Their coins lie in wallets of the merchants, which move them when they like. */
function networksWithoutCheck({ connected }: CommandContext): string[] {
  return connected.filter(({ evm }) => !evm).map(({ network }) => `${network.code} (${network.mode})`);
}

async function checkChains(context: CommandContext): Promise<LedgerCheck[]> {
  const checks: LedgerCheck[] = [];
  for (const network of evmNetworks(context.connected)) {
    const { code, mode } = network.network;
    context.progress(`${code}: reading balances`);
    try {
      const deps = { ...context, reader: context.database.reader };
      const compared = await compareWithChain(deps, network, new AbortController().signal);
      if (!compared) continue;
      checks.push({
        invariant: `The books are what lies on ${code} (${mode}) at block ${compared.height}`,
        checked: compared.places.length,
        violations: compared.places.flatMap((place) => violationOf(place) ?? []),
      });
    } catch (error) {
      checks.push({
        invariant: `The books are what lies on ${code} (${mode})`,
        checked: 0,
        violations: [`It could not be read: ${errorMessage(error)}`],
      });
    }
  }
  return checks;
}

function violationOf({ currency, merchantId, books, chain, tolerance }: PlaceBalance): string | undefined {
  const difference = chain - books;
  const text = (units: bigint) => `${amountOf(units.toString(), currency)} ${currency}`;
  if (merchantId === undefined) {
    if (difference >= 0n) return undefined;
    return `The treasuries hold ${text(chain)}, the books say ${text(books)}: money left them that is not on the books`;
  }
  if (difference >= -tolerance && difference <= tolerance) return undefined;
  return `At the addresses of ${merchantId} lie ${text(chain)}, the books say ${text(books)}`;
}
