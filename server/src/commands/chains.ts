/** `chains …`: shows how far each network was scanned and what is quarantined, and tries that again. */
import { listCursors } from '../chains/cursors.js';
import { isoTime } from '../shared/clock.js';
import { listQuarantine, retryQuarantine } from '../payments/receipts/quarantine.js';
import { text, type Command } from './command.js';
import { counted } from './counted.js';

export const chainCommands: Readonly<Record<string, Command>> = {
  'chains status': {
    usage: 'chains status',
    help: `Lists the networks with the last block that was scanned, how many blocks are left to read, and why a scan fails. Then
the payments and transfers that a scan had to quarantine, because processing them failed. A network goes on without them, and they
are tried again by themselves, at most 10 minutes apart. Exits with 1 if a scan fails or anything is quarantined.`,
    options: {},
    positionals: [],
    async run({ database }) {
      const cursors = await listCursors(database.reader);
      const rows = await listQuarantine(database.reader);
      const json = {
        networks: cursors.map(({ mode, network, height, head_height, synced_at, problem }) => ({
          ...{ mode, network, height, headHeight: head_height, syncedAt: isoTime(synced_at) },
          ...(problem !== null && { problem }),
        })),
        quarantined: rows.map((row) => ({
          ...{ mode: row.mode, network: row.network },
          ...(row.payment_id !== null && { paymentId: row.payment_id }),
          ...(row.transfer !== null && { transfer: row.id }),
          reason: row.reason,
          tries: row.tries,
          failedAt: isoTime(row.failed_at),
          retryAt: isoTime(row.retry_at),
        })),
      };
      const lines = [
        ...json.networks.map((one) =>
          [
            ...[one.mode, one.network, blocksRead(one), `read up to ${one.syncedAt}`],
            ...('problem' in one ? [`fails: ${one.problem}`] : []),
          ].join('  '),
        ),
        ...(json.networks.length === 0 ? ['No network has been scanned yet'] : []),
        ...(json.quarantined.length === 0 ? ['Nothing is quarantined'] : ['Quarantined:']),
        ...json.quarantined.map((one) =>
          [
            ...[
              one.mode,
              one.network,
              one.transfer ? `transfer ${one.transfer}` : `payment ${one.paymentId}`,
            ],
            ...[`failed ${counted(one.tries, 'time')} since ${one.failedAt}`, one.reason],
          ].join('  '),
        ),
      ];
      const isFailing = json.networks.some((one) => 'problem' in one);
      return { json, text: lines.join('\n'), hasFailed: isFailing || rows.length > 0 };
    },
  },
  'chains retry': {
    usage: 'chains retry [--network NETWORK]',
    help: `Makes a running server try everything that is quarantined again at once, instead of waiting for its next attempt.

  --network NETWORK         only on this network`,
    options: { network: text },
    positionals: [],
    async run({ database }, { network }) {
      const count = await database.write((transaction) =>
        retryQuarantine(transaction, typeof network === 'string' ? network : undefined),
      );
      const what = count === 1 ? '1 payment or transfer is' : `${count} payments and transfers are`;
      return { json: { count }, text: `${what} tried again with the next scan` };
    },
  },
};

function blocksRead({
  height,
  headHeight,
}: {
  readonly height: number;
  readonly headHeight: number;
}): string {
  if (height >= headHeight) return `block ${height}`;
  return `block ${height} of ${headHeight}, ${headHeight - height} left to read`;
}
