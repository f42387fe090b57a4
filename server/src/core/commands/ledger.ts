/** `ledger …`: checks the ledger. */
import { checkLedger } from '../audit/check.js';
import type { LedgerCheck } from '../audit/check-report.js';
import { compareWallets, type WalletBalance } from '../audit/wallet-balances.js';
import type { ConnectedNetwork } from '../chains/connect.js';
import { errorMessage } from '../shared/error-message.js';
import { command, type Group } from './command.js';
import type { CommandContext } from './context.js';
import * as option from './options.js';
import { amountText } from './records.js';

export const ledgerCommands: Group = {
  name: 'ledger',
  summary: 'The books.',
  commands: {
    check: command({
      summary: "Checks the ledger's invariants and prints how many records each covers.",
      details: `Exits with 1 if one is violated, or if something could not be read.

With --chain, each forwarder must hold what the books say, to the unit, at a final block; a treasury may hold more, but not less. Exits with 3 if something is missing, and with 4 if there is more than the books say: "chains reconcile --apply" books it. Dust, which is less than the smallest payment, is only reported. The addresses of extended keys may differ, since your wallet spends from them without this server: such a difference is only reported.`,
      options: {
        chain: option.flag('also compares the books with the nodes, for every network with a node'),
      },
      async run(context, { chain }) {
        const checks = await context.database.snapshot((reader) => checkLedger(reader));
        if (chain) checks.push(...(await checkChains(context)));
        const lines = checks.flatMap(({ invariant, checked, violations, notes }) => [
          `${violations.length === 0 ? 'ok  ' : 'FAIL'}  ${invariant} (${checked} checked)`,
          ...violations.map((violation) => `      ${violation}`),
          ...(notes ?? []).map((note) => `      Note: ${note}`),
        ]);
        const unchecked = chain ? networksWithoutCheck(context) : [];
        const note =
          unchecked.length > 0 ? `\n      Not compared with the chain: ${unchecked.join(', ')}` : '';
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

/** Their nodes cannot say what an address holds. */
function networksWithoutCheck({ connected, hooks }: CommandContext): string[] {
  return connected
    .filter(({ evm, utxoNode }) => !evm && !(utxoNode && hooks.sumUnspent()))
    .map(({ network }) => `${network.code} (${network.mode})`);
}

async function checkChains(context: CommandContext): Promise<LedgerCheck[]> {
  const checks: LedgerCheck[] = [];
  for (const connected of context.connected) {
    if (!connected.evm) continue;
    const { code, mode } = connected.network;
    context.progress(`${code}: reading balances`);
    try {
      checks.push(...(await context.hooks.compareWithChain(connected, context.signal)));
    } catch (error) {
      checks.push(unread(`The forwarders were read on ${code} (${mode})`, error));
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
    const deps = { reader: context.database.reader, sumUnspent: context.hooks.sumUnspent() };
    const compared = await compareWallets(deps, connected, context.signal);
    if (!compared || compared.wallets.length === 0) return [];
    const { height, wallets } = compared;
    const notes = wallets.map(noteOf);
    return [{ invariant: `${invariant} at block ${height}`, checked: wallets.length, violations: [], notes }];
  } catch (error) {
    return [unread(invariant, error)];
  }
}

function noteOf({ merchantId, currency, books, chain }: WalletBalance): string {
  const place = `The addresses of ${merchantId} hold ${amountText(chain, currency)}`;
  if (chain === books) return `${place}, as the books say`;
  return `${place}, the books say ${amountText(books, currency)}. ${
    chain < books
      ? 'The wallet has moved the rest, or paid transfers that were not settled: "transfers settle ID --tx-hash HASH"'
      : 'More has arrived than is confirmed, or blocks are still to be read: see "chains status"'
  }`;
}

function unread(invariant: string, error: unknown): LedgerCheck {
  return { invariant, checked: 0, violations: [`It could not be read: ${errorMessage(error)}`] };
}
