/** `transfers psbt …`: pays transfers on Bitcoin and Litecoin with transactions that the merchant's own wallet signs. */
import { buffer } from 'node:stream/consumers';
import { stdin } from 'node:process';
import { isoTime } from '../../core/shared/clock.js';
import { paidAmounts } from './context.js';
import type { Exported } from './export.js';
import { attentionOf, type StoredPsbt } from './psbt-store.js';
import type { PsbtPayouts } from './psbt-payouts.js';
import { newestOf, viewPsbt, viewPsbtRow } from './psbt-view.js';
import { command, type Group, type Output } from '../../core/commands/command.js';
import type { CommandContext } from '../../core/commands/context.js';
import { readGivenFile, writeNewFile } from '../../core/commands/files.js';
import * as option from '../../core/commands/options.js';
import { listCommand, noFilters } from '../../core/commands/read-commands.js';
import { amountText } from '../../core/commands/records.js';
import type { PsbtTable } from './tables.js';

const id = option.id('the PSBT, as "transfers psbt list" shows it');
const output = option.newFile('writes the PSBT into this new file, instead of printing it in base64');

/** @param rules of a running command */
export const psbtCommands = (rules: (context: CommandContext) => PsbtPayouts): Group => ({
  name: 'transfers psbt',
  summary: "Transfers on Bitcoin and Litecoin, paid with transactions that the merchant's own wallet signs.",
  commands: {
    export: command({
      summary:
        "Makes one PSBT of the merchant's transfers that wait on a network of Bitcoin or Litecoin, for their own wallet to sign.",
      details:
        "It spends confirmed deposits, and what is left goes to the wallet's own change addresses. The transfers and the coins are reserved until the PSBT is settled or discarded.",
      options: {
        merchant: option.merchant('whose transfers').required(),
        network: option.code('bitcoin, litecoin, or one of their test networks in NETWORKS_FILE').required(),
        mode: option.mode('the mode of the transfers'),
        feeRate: option.text(
          'N',
          "satoshis per virtual byte, such as 12 or 1.5 (default: the node's estimate for six blocks)",
        ),
        transfer: option.id('only this transfer. Can be given several times').repeated(),
        key: option.id('spends the coins of a previous deposit key: see deposit-keys list --json'),
        fingerprint: option.text(
          'HEX',
          "of the wallet's master key, eight hexadecimal digits. Hardware wallets need it to find their keys",
        ),
        path: option.text(
          'PATH',
          "from the master key to the account, if it is not the usual one, such as m/84'/0'/0'",
        ),
        output,
      },
      run: (context, { merchant: merchantId, mode, transfer, key: keyId, output: file, ...given }) =>
        writingTo(file, async (write) => {
          const transferIds = transfer.length === 0 ? undefined : transfer;
          const exported = await rules(context).exportWaiting(
            { ...given, scope: { merchantId, mode }, keyId, transferIds, actor: context.actor },
            context.signal,
          );
          return showExport(context, exported, write);
        }),
    }),
    bump: command({
      summary:
        'Makes another version of a PSBT that is not confirmed yet, with a higher fee, to be signed and imported in its place.',
      details:
        'It spends the same coins and pays the same transfers, so that only one of the versions can be confirmed. The change pays the difference, or the transfer that bears the fee.',
      args: { id },
      options: { feeRate: option.text('N', 'satoshis per virtual byte').required(), output },
      run: (context, given) =>
        writingTo(given.output, async (write) => {
          const { actor, signal } = context;
          const psbt = await rules(context).bump(given.id, given.feeRate, {}, actor, signal);
          return showExport(context, { psbt, skipped: [] }, write);
        }),
    }),
    import: command({
      summary:
        'Takes what the wallet signed: a PSBT (binary, base64 or hexadecimal), or the final transaction in hexadecimal digits.',
      details:
        'It is compared with the export, output by output and input by input. If anything differs, nothing is stored or sent. Otherwise it is stored and broadcast, and the server settles the transfers when it has its confirmations. Importing the same again is harmless.',
      args: { file: option.file('what the wallet wrote, or - for the standard input') },
      async run(context, { file }) {
        const { currencies, actor, progress, signal } = context;
        const signed = await (file === '-' ? buffer(stdin) : readGivenFile(file));
        const { psbt, version, isBroadcast, problem } = await rules(context).importSigned(
          signed,
          {},
          actor,
          signal,
        );
        progress(`Every output and input is as it was exported as ${psbt.id}, version ${version.number}`);
        return {
          json: {
            ...viewPsbt(psbt, currencies),
            txHash: version.tx_hash,
            isBroadcast,
            problem: problem ?? null,
          },
          text: isBroadcast
            ? `Broadcast as ${version.tx_hash}. The server settles the transfers when it has its confirmations`
            : `Stored as ${version.tx_hash}, but it was not broadcast: ${problem ?? ''}. The server tries again automatically; see transfers psbt list`,
          hasFailed: !isBroadcast,
        };
      },
    }),
    list: listCommand(noFilters, {
      summary:
        'Lists the PSBTs, newest first, at most 1000: open (exported), sent (signed and broadcast), settled, conflicted (their coins were spent by another transaction) and discarded, and what needs attention.',
      what: 'PSBTs',
      rows: (context, { merchantId }) => rules(context).list({ merchantId }),
      json: viewPsbtRow,
      line: rowLine,
    }),
    show: command({
      summary:
        'Shows a PSBT with its transfers, coins and versions, and writes its newest version once more, for a wallet that has lost it.',
      args: { id },
      options: { output },
      run: (context, given) =>
        writingTo(given.output, async (write) => {
          const psbt = await rules(context).handOut(given.id, {});
          const isWritten = await write(newestOf(psbt));
          const shown = isWritten ? [] : ['', newestOf(psbt)];
          return { json: viewPsbt(psbt, context.currencies), text: [...describe(psbt), ...shown].join('\n') };
        }),
    }),
    discard: command({
      summary: 'Gives up a PSBT that was not broadcast, or whose coins were spent by another transaction.',
      details:
        'Its transfers wait again, and its coins can be spent. A signed copy of it stays valid: the next PSBT with one of its transfers therefore spends one of the same coins, so that the network takes only one of the two. Delete signed copies before you pay or fail the transfers in another way. Repeating it changes nothing.',
      args: { id },
      async run(context, given) {
        const { currencies, actor, signal } = context;
        const psbt = await rules(context).discard(given.id, {}, actor, signal);
        return {
          json: viewPsbt(psbt, currencies),
          text: `Discarded. Its transfers wait again: ${psbt.transfers.map((transfer) => transfer.id).join(', ')}
Delete every copy that the wallet may have signed: it could still be broadcast`,
        };
      },
    }),
  },
});

async function showExport(
  { progress, currencies }: CommandContext,
  { psbt, skipped }: Exported,
  write: Write,
): Promise<Output> {
  for (const { id: left, reason } of skipped) progress(`Left out: ${left}. ${reason}`);
  if (!psbt) {
    return {
      json: { psbt: null, skipped },
      text: skipped.length === 0 ? 'No transfer waits: there is nothing to sign' : 'Nothing was exported',
      hasFailed: skipped.length > 0,
    };
  }
  const encoded = newestOf(psbt);
  const summary = describe(psbt);
  const json = { ...viewPsbt(psbt, currencies), psbt: encoded, skipped };
  if (await write(encoded)) return { json, text: summary.join('\n') };
  for (const line of summary) progress(line);
  return { json, text: encoded };
}

/** Writes a PSBT in base64 into the file of `--output`, in binary as BIP-174 says. @returns true if there is one */
type Write = (psbt: string) => Promise<boolean>;

/** Opens the file first: nothing is reserved for a PSBT that cannot be written. */
function writingTo(path: string | undefined, work: (write: Write) => Promise<Output>): Promise<Output> {
  if (path === undefined) return work(() => Promise.resolve(false));
  return writeNewFile(path, (file) =>
    work(async (psbt) => {
      await file.writeFile(Buffer.from(psbt, 'base64'));
      return true;
    }),
  );
}

function describe(psbt: StoredPsbt): string[] {
  const { currency, versions, transfers, inputs } = psbt;
  const amount = (units: bigint) => amountText(units, currency);
  const newest = versions.at(-1);
  const paid = newest ? paidAmounts(psbt, newest) : [];
  return [
    rowLine(psbt),
    ...transfers.map(
      (row, position) =>
        `  pays     ${amount(paid[position] ?? 0n)} to ${row.address} (transfer ${row.id})${row.bears_fee ? ': the fee is taken out of it, because no coin is left to pay it' : ''}`,
    ),
    ...(newest && newest.change_amount !== 0n
      ? [`  change   ${amount(newest.change_amount)} to the account's address 1/${psbt.change_index ?? ''}`]
      : []),
    ...inputs.map(
      (input) =>
        `  spends   ${amount(input.amount)} of ${input.tx_hash}:${input.output_index} at ${input.branch}/${input.derivation_index}`,
    ),
    ...versions.map(
      ({ number, fee, virtual_size: size, tx_hash: hash, imported_at: at }) =>
        `  version ${number}: fee ${amount(fee)} for ${size} virtual bytes${hash === null ? '' : `, transaction ${hash}`}${at === null ? ', not imported' : `, imported ${isoTime(at)}`}`,
    ),
  ];
}

function rowLine(row: PsbtTable): string {
  const { id, mode, network, state, created_at: createdAt } = row;
  const problem = attentionOf(row);
  const line = [id, mode, network, state, isoTime(createdAt)].join('  ');
  return problem === null ? line : `${line}\n  attention: ${problem}`;
}
