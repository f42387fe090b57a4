/** `transfers psbt …`: pays transfers on Bitcoin and Litecoin with transactions that the merchant's own wallet signs. */
import { readFile, open as openFile, rm } from 'node:fs/promises';
import { stdin } from 'node:process';
import { isoTime } from '../shared/clock.js';
import { Problem } from '../shared/problem.js';
import type { PsbtTable } from '../db/schema.js';
import type { Exported } from './export.js';
import type { PsbtPayouts } from './psbt-payouts.js';
import { amountOf } from '../commands/amounts.js';
import {
  modeOf,
  optional,
  required,
  text,
  UsageError,
  type Command,
  type CommandContext,
  type Options,
  type Output,
} from '../commands/command.js';

type StoredPsbt = Awaited<ReturnType<PsbtPayouts['retrieve']>>;

const outputHelp =
  '  --output FILE       writes the PSBT into this new file, instead of printing it in base64';
const { signal } = new AbortController();

export const psbtCommands: Readonly<Record<string, Command>> = {
  'transfers psbt export': {
    usage:
      'transfers psbt export --merchant ID --network CODE --mode test|live [--fee-rate N] [--transfer ID] [--key ID] [--fingerprint HEX] [--path PATH] [--output FILE]',
    help: `Makes one PSBT of the merchant's transfers that wait on a network of Bitcoin or Litecoin, for their own wallet to sign. It
spends confirmed deposits, and what is left goes to the wallet's own change addresses. The transfers and the coins are
reserved until the PSBT is settled or discarded.

  --merchant ID       whose transfers
  --network CODE      bitcoin, litecoin, or one of their test networks in NETWORKS_FILE
  --mode MODE         test or live
  --fee-rate N        satoshis per virtual byte, such as 12 or 1.5 (default: the node's estimate for six blocks)
  --transfer ID       only this transfer. Can be given several times
  --key ID            spends the coins of a former deposit key: see deposit-keys list --json
  --fingerprint HEX   of the wallet's master key, eight hexadecimal digits. Hardware wallets need it to find their keys
  --path PATH         from the master key to the account, if it is not the usual one, such as m/84'/0'/0'
${outputHelp}`,
    options: {
      merchant: text,
      network: text,
      mode: text,
      'fee-rate': text,
      transfer: { type: 'string', multiple: true },
      key: text,
      fingerprint: text,
      path: text,
      output: text,
    },
    positionals: [],
    async run(context, options) {
      const merchantId = required(options, 'merchant');
      const network = required(options, 'network');
      const scope = { merchantId, mode: modeOf(options) };
      const transferIds = options['transfer'];
      await context.merchants.retrieve(context.database.reader, merchantId);
      return withOutput(options, async (write) => {
        const exported = await context.psbtPayouts.exportWaiting(
          {
            scope,
            network,
            feeRate: optional(options, 'fee-rate'),
            keyId: optional(options, 'key'),
            fingerprint: optional(options, 'fingerprint'),
            path: optional(options, 'path'),
            transferIds: Array.isArray(transferIds) ? transferIds.map(String) : undefined,
            actor: context.actor,
          },
          signal,
        );
        return showExport(context, exported, write);
      });
    },
  },
  'transfers psbt bump': {
    usage: 'transfers psbt bump ID --fee-rate N [--output FILE]',
    help: `Makes another version of a PSBT that is not confirmed yet, with a higher fee, to be signed and imported in its place. It
spends the same coins and pays the same transfers, so that only one of the versions can be confirmed. The change pays
the difference.

  ID                  the PSBT, as "transfers psbt list" shows it
  --fee-rate N        satoshis per virtual byte
${outputHelp}`,
    options: { 'fee-rate': text, output: text },
    positionals: ['ID'],
    run: (context, options, [id = '']) =>
      withOutput(options, async (write) => {
        const feeRate = required(options, 'fee-rate');
        const psbt = await context.psbtPayouts.bump(id, feeRate, context.actor, signal);
        return showExport(context, { psbt, skipped: [] }, write);
      }),
  },
  'transfers psbt import': {
    usage: 'transfers psbt import FILE',
    help: `Takes what the wallet signed: a PSBT (binary, base64 or hexadecimal), or the final transaction in hexadecimal digits. It
is compared with what was exported, output by output and input by input. If anything differs, nothing is stored or sent.
Otherwise it is stored and broadcast, and the server settles the transfers when it has its confirmations. Importing the same
again is harmless.

  FILE                what the wallet wrote, or - for the standard input`,
    options: {},
    positionals: ['FILE'],
    async run({ psbtPayouts, actor, progress }, _options, [file = '']) {
      const { psbt, version, isBroadcast, problem } = await psbtPayouts.importSigned(
        await readInput(file),
        actor,
        signal,
      );
      progress(`Every output and input is as it was exported as ${psbt.id}, version ${version.number}`);
      return {
        json: { ...psbtJson(psbt), txHash: version.tx_hash, isBroadcast, problem: problem ?? null },
        text: isBroadcast
          ? `Broadcast as ${version.tx_hash ?? ''}. The server settles the transfers when it has its confirmations`
          : `Stored as ${version.tx_hash ?? ''}, but it was not broadcast: ${problem ?? ''}. The server tries again by itself; see transfers psbt list`,
        hasFailed: !isBroadcast,
      };
    },
  },
  'transfers psbt list': {
    usage: 'transfers psbt list [--merchant ID]',
    help: `Lists the PSBTs, newest first, at most 1000: open (exported), sent (signed and broadcast), settled, conflicted (their coins
were spent by another transaction) and discarded, and what needs attention.

  --merchant ID       only those of this merchant`,
    options: { merchant: text },
    positionals: [],
    async run({ psbtPayouts }, options) {
      const rows = await psbtPayouts.list(optional(options, 'merchant'));
      return {
        json: rows.map(rowJson),
        text: rows.map(rowLine).join('\n') || 'There are no PSBTs',
      };
    },
  },
  'transfers psbt show': {
    usage: 'transfers psbt show ID [--output FILE]',
    help: `Shows a PSBT with its transfers, coins and versions, and writes its newest version once more, for a wallet that has lost it.

  ID                  the PSBT, as "transfers psbt list" shows it
  --output FILE       writes the newest version into this new file`,
    options: { output: text },
    positionals: ['ID'],
    run: ({ psbtPayouts }, options, [id = '']) =>
      withOutput(options, async (write) => {
        const psbt = await psbtPayouts.retrieve(id);
        const json = psbtJson(psbt);
        const isWritten = await write(newestOf(psbt));
        const shown = isWritten ? [] : ['', newestOf(psbt)];
        return { json, text: [...describe(psbt), ...shown].join('\n') };
      }),
  },
  'transfers psbt discard': {
    usage: 'transfers psbt discard ID',
    help: `Gives up a PSBT that was not broadcast, or whose coins were spent by another transaction. Its transfers wait again, and
its coins can be spent. A signed copy of it stays valid: the next PSBT with one of its transfers therefore spends one of
the same coins, so that the network takes only one of the two. Delete signed copies before you pay or fail the transfers
in another way. Repeating it changes nothing.

  ID                  the PSBT, as "transfers psbt list" shows it`,
    options: {},
    positionals: ['ID'],
    async run({ psbtPayouts, actor }, _options, [id = '']) {
      const psbt = await psbtPayouts.discard(id, actor, signal);
      return {
        json: psbtJson(psbt),
        text: `Discarded. Its transfers wait again: ${psbt.transfers.map((transfer) => transfer.id).join(', ')}
Delete every copy that the wallet may have signed: it could still be broadcast`,
      };
    },
  },
};

async function showExport(
  { progress }: CommandContext,
  { psbt, skipped }: Exported,
  write: Write,
): Promise<Output> {
  for (const { id, reason } of skipped) progress(`Left out: ${id}. ${reason}`);
  if (!psbt) {
    return {
      json: { psbt: null, skipped },
      text: skipped.length === 0 ? 'No transfer waits: there is nothing to sign' : 'Nothing was exported',
      hasFailed: skipped.length > 0,
    };
  }
  const encoded = newestOf(psbt);
  const summary = describe(psbt);
  const json = { ...psbtJson(psbt), psbt: encoded, skipped };
  if (await write(encoded)) return { json, text: summary.join('\n') };
  for (const line of summary) progress(line);
  return { json, text: encoded };
}

/** Writes a PSBT in base64 into the file of `--output`, in binary as BIP-174 says. @returns whether there is one */
type Write = (psbt: string) => Promise<boolean>;

/** Opens the file first: nothing is reserved for a PSBT that cannot be written. */
async function withOutput(options: Options, work: (write: Write) => Promise<Output>): Promise<Output> {
  const path = optional(options, 'output');
  if (path === undefined) return work(() => Promise.resolve(false));
  const file = await openFile(path, 'wx', 0o600).catch((error: unknown) => {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    throw new UsageError(
      code === 'EEXIST'
        ? `--output: ${path} exists already. Name a new file`
        : `--output: ${path} cannot be written (${String(code)})`,
    );
  });
  let written = 0;
  try {
    return await work(async (psbt) => {
      await file.writeFile(Buffer.from(psbt, 'base64'));
      written += 1;
      return true;
    });
  } finally {
    await file.close();
    if (written === 0) await rm(path, { force: true });
  }
}

async function readInput(path: string): Promise<Uint8Array> {
  if (path === '-') {
    const chunks: Buffer[] = [];
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array));
    return Buffer.concat(chunks);
  }
  return readFile(path).catch((error: unknown) => {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    throw new Problem('invalid_state', `${path} cannot be read (${String(code)})`);
  });
}

function newestOf({ versions }: StoredPsbt): string {
  return [...versions].reverse().find(({ psbt }) => psbt !== '')?.psbt ?? '';
}

function describe(psbt: StoredPsbt): string[] {
  const { currency, versions, transfers, inputs } = psbt;
  const amount = (units: string) => `${amountOf(units, currency)} ${currency}`;
  const newest = versions.at(-1);
  return [
    rowLine(psbt),
    ...transfers.map((row) => `  pays     ${amount(row.amount)} to ${row.address} (transfer ${row.id})`),
    ...(newest && newest.change_amount !== '0'
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

function rowJson(row: PsbtTable) {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    mode: row.mode,
    network: row.network,
    currency: row.currency,
    state: row.state,
    problem: row.problem,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

function psbtJson(psbt: StoredPsbt) {
  const { currency, change_index: change } = psbt;
  return {
    ...rowJson(psbt),
    changePath: change === null ? null : `1/${change}`,
    transfers: psbt.transfers.map((row) => ({
      id: row.id,
      status: row.status,
      amount: amountOf(row.amount, currency),
      address: row.address,
    })),
    inputs: psbt.inputs.map((input) => ({
      txHash: input.tx_hash,
      outputIndex: input.output_index,
      amount: amountOf(input.amount, currency),
      path: `${input.branch}/${input.derivation_index}`,
    })),
    versions: psbt.versions.map((version) => ({
      number: version.number,
      fee: amountOf(version.fee, currency),
      virtualSize: version.virtual_size,
      change: amountOf(version.change_amount, currency),
      txHash: version.tx_hash,
      importedAt: version.imported_at === null ? null : isoTime(version.imported_at),
      isSettled: version.number === psbt.settled_version,
    })),
  };
}

function rowLine({ id, mode, network, state, created_at: createdAt, problem }: PsbtTable): string {
  const line = [id, mode, network, state, isoTime(createdAt)].join('  ');
  return problem === null ? line : `${line}\n  attention: ${problem}`;
}
