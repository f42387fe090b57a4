/** `ledger …`: checks the ledger. */
import { checkLedger } from '../audit/check.js';
import type { LedgerCheck } from '../audit/check-report.js';
import { compareWallets, type WalletBalance } from '../audit/wallet-balances.js';
import type { ConnectedNetwork } from '../chains/connect.js';
import { errorMessage } from '../shared/error-message.js';
import type { PlaceBalance } from '../treasury/chain-balances.js';
import { amountOf } from './amounts.js';
import type { Command, CommandContext } from './command.js';

export const ledgerCommands: Readonly<Record<string, Command>> = {
  'ledger check': {
    usage: 'ledger check [--chain]',
    help: `Checks the ledger's invariants and prints how many records each covers. Exits with 1 if one is violated.

  --chain   also compares the books with what nodes say, for every network with a node:
            - at forwarders, at a final block, it must be the same to the unit; a treasury may hold more, but not less
            - at the addresses of extended keys, where your wallet spends without this server, a difference is only told`,
    options: { chain: { type: 'boolean' } },
    positionals: [],
    async run(context, { chain }) {
      const checks = await context.database.snapshot((reader) => checkLedger(reader));
      if (chain === true) checks.push(...(await checkChains(context)));
      const lines = checks.flatMap(({ invariant, checked, violations, notes }) => [
        `${violations.length === 0 ? 'ok  ' : 'FAIL'}  ${invariant} (${checked} checked)`,
        ...violations.map((violation) => `      ${violation}`),
        ...(notes ?? []).map((note) => `      Note: ${note}`),
      ]);
      const unchecked = chain === true ? networksWithoutCheck(context) : [];
      const note = unchecked.length > 0 ? `\n      Not compared with the chain: ${unchecked.join(', ')}` : '';
      const hasFailed = checks.some(({ violations }) => violations.length > 0);
      return { json: checks, text: lines.join('\n') + note, hasFailed };
    },
  },
};

/** Their nodes do not tell what lies at an address. */
function networksWithoutCheck({ connected }: CommandContext): string[] {
  return connected
    .filter(({ evm, utxoNode }) => !evm && !utxoNode)
    .map(({ network }) => `${network.code} (${network.mode})`);
}

async function checkChains(context: CommandContext): Promise<LedgerCheck[]> {
  const checks: LedgerCheck[] = [];
  for (const connected of context.connected) {
    if (!connected.evm) continue;
    const { code, mode } = connected.network;
    context.progress(`${code}: reading balances`);
    try {
      const compared = await context.treasury.compareWithChain(connected, new AbortController().signal);
      if (!compared) continue;
      checks.push({
        invariant: `The books are what lies on ${code} (${mode}) at block ${compared.height}`,
        checked: compared.places.length,
        violations: compared.places.flatMap((place) => violationOf(place) ?? []),
      });
    } catch (error) {
      checks.push(unread(`The books are what lies on ${code} (${mode})`, error));
    }
  }
  for (const connected of context.connected) checks.push(...(await checkWallets(context, connected)));
  return checks;
}

async function checkWallets(context: CommandContext, connected: ConnectedNetwork): Promise<LedgerCheck[]> {
  const { code, mode } = connected.network;
  const invariant = `The wallets of extended keys were read on ${code} (${mode})`;
  context.progress(`${code}: reading wallets`);
  try {
    const deps = { ...context, reader: context.database.reader };
    const compared = await compareWallets(deps, connected, new AbortController().signal);
    if (!compared || compared.wallets.length === 0) return [];
    const { height, wallets } = compared;
    const notes = wallets.map(noteOf);
    return [{ invariant: `${invariant} at block ${height}`, checked: wallets.length, violations: [], notes }];
  } catch (error) {
    return [unread(invariant, error)];
  }
}

function noteOf({ merchantId, currency, books, chain }: WalletBalance): string {
  const text = (units: bigint) => `${amountOf(units.toString(), currency)} ${currency}`;
  const place = `At the addresses of ${merchantId} lie ${text(chain)}`;
  if (chain === books) return `${place}, as the books say`;
  return `${place}, the books say ${text(books)}. ${
    chain < books
      ? 'The wallet has moved the rest, or paid transfers that were not settled: "transfers settle ID --tx-hash HASH"'
      : 'More has arrived than is confirmed, or blocks are still to be read: see "chains status"'
  }`;
}

function unread(invariant: string, error: unknown): LedgerCheck {
  return { invariant, checked: 0, violations: [`It could not be read: ${errorMessage(error)}`] };
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
