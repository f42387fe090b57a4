/** `chains …`: how far each network was scanned and what is quarantined; tries that again, and reads blocks again. */
import { acceptReorg, rescan } from '../scanning/rescan.js';
import { findWaiting, type WaitingPayments } from '../payments/receipts/waiting.js';
import { listQuarantine, retryQuarantine } from '../payments/receipts/quarantine.js';
import { readRateTroubles, type RateTrouble } from '../money/rate-troubles.js';
import { isoTime } from '../shared/clock.js';
import { command, type Group } from './command.js';
import type { CommandContext } from './context.js';
import { UsageError } from './errors.js';
import { readNetworkStates, type NetworkState } from './network-states.js';
import * as option from './options.js';
import { counted, recordJson } from './records.js';

export const chainCommands: Group = {
  name: 'chains',
  summary: 'The data that the server reads from the networks.',
  commands: {
    status: command({
      summary:
        'Lists the networks with the last block that was scanned, how many blocks are left to read, why one is not read, what its nodes do not take, how they disagree, and what payments wait for although their transfers are deep enough; networks that are configured and never worked too, and those that are not configured any more.',
      details:
        'Then what this server watches besides payments, with what needs attention. Then the payments and transfers that a scan had to quarantine, because processing them failed. A network continues without them, and they are tried again automatically, at most 10 minutes apart. Then which sources of exchange rates fail, and which of their markets do not count, as the running server last saw it. Exits with 1 if a network is not read, nodes disagree, anything is quarantined, or something else needs attention.',
      async run(context) {
        const { database, worldRates } = context;
        const parts = await context.hooks.chainStatus();
        const networks = await readNetworkStates(context);
        const waiting = await readWaiting(context);
        const quarantined = await listQuarantine(database.reader);
        const rates = worldRates ? await readRateTroubles(database.reader) : [];
        const lines = [
          ...networks.map(networkLine),
          ...waiting.map(waitingLine),
          ...parts.flatMap((part) => part.lines),
          ...(quarantined.length === 0 ? ['Nothing is quarantined'] : ['Quarantined:']),
          ...quarantined.map(quarantineLine),
          ...rates.map(rateLine),
        ];
        return {
          json: {
            ...Object.assign({}, ...parts.map((part) => part.json)),
            networks: networks.map(networkJson),
            waiting,
            quarantined: quarantined.map(quarantineJson),
            ...(worldRates && { rates }),
          },
          text: lines.join('\n'),
          hasFailed:
            parts.some((part) => part.hasFailed) ||
            networks.some(({ isConfigured, problem }) => isConfigured && problem !== undefined) ||
            quarantined.length > 0,
        };
      },
    }),
    retry: command({
      summary:
        'Makes a running server try everything that is quarantined again at once, instead of waiting for its next attempt.',
      options: { network: option.code('only on this network') },
      async run({ database }, { network }) {
        const count = await database.write((transaction) => retryQuarantine(transaction, network));
        const what = count === 1 ? '1 payment or transfer is' : `${count} payments and transfers are`;
        return { json: { count }, text: `${what} tried again with the next scan` };
      },
    }),
    rescan: command({
      summary:
        'Reads the blocks of a network again, up to the last one that was scanned, and credits missed payments, such as those in a token that was configured later.',
      details: `Transfers that are known already change nothing. The server may keep running. Says how far it is while it works.

A reorganisation that reaches below the blocks that are kept, which are at least 200, stops a network: "chains status" says so. Check first that its nodes are on the right chain. Then choose a block before the fork and add --accept-reorg: everything that was received from that block on is reverted, and the server continues from there and credits it again as it finds it. A development chain that was started again from the beginning is such a reorganisation: --from 1 --accept-reorg.`,
      options: {
        network: option.code('the network').required(),
        from: option.height('the first block to read').required(),
        mode: option.mode('the mode of the network'),
        acceptReorg: option.flag('continues with a chain that was reorganised that deep'),
      },
      async run(
        { database, chains, receipts, progress, signal },
        { network, from, mode, acceptReorg: isReorg },
      ) {
        const named = chains.filter((one) => one.network === network);
        const chain = named.find((one) => one.mode === mode);
        if (!chain) {
          const [other] = named;
          throw new UsageError(
            other
              ? `The network "${network}" is one of ${other.mode} mode: add --mode ${other.mode}`
              : `There is no network "${network}"`,
          );
        }
        const onProgress = (height: number, end: number) => progress(`${network}: block ${height} of ${end}`);
        const work = { database, chain, sink: receipts, from, signal, onProgress };
        if (isReorg) {
          if (from < 1) throw new UsageError('--from must be at least 1 with --accept-reorg');
          const { before, now } = await acceptReorg(work);
          return {
            json: { network, mode, from, before, now },
            text: `Reverted what was received on ${network} from block ${from} on. The server continues from there; it was at block ${before}`,
          };
        }
        const last = await rescan(work);
        return {
          json: { network, mode, from, to: last ?? null },
          text:
            last === undefined
              ? `No block of ${network} was scanned from ${from} on: there is nothing to read again`
              : `Read ${network} again from block ${from} to ${last}`,
        };
      },
    }),
  },
};

type Quarantined = Awaited<ReturnType<typeof listQuarantine>>[number];

function networkJson({ mode, network, cursor, isConfigured, problem }: NetworkState) {
  const gaps = (cursor?.gaps ?? []).map((gap) => ({ ...gap, since: isoTime(gap.since) }));
  return {
    mode,
    network,
    isConfigured,
    ...(cursor && recordJson(cursor, 'height', 'head_height', 'synced_at')),
    ...(gaps.length > 0 && { gaps }),
    ...(problem !== undefined && { problem }),
    ...(cursor?.node_limits && { nodeLimits: cursor.node_limits }),
  };
}

function networkLine({ mode, network, cursor, isConfigured, problem }: NetworkState): string {
  const parts: string[] = [mode, network];
  if (cursor) {
    const { height, head_height: head, synced_at } = cursor;
    const left = height >= head ? '' : ` of ${head}, ${head - height} left to read`;
    parts.push(`block ${height}${left}`, `read up to ${isoTime(synced_at)}`);
    for (const { currency, from, to, since } of cursor.gaps) {
      const blocks = to === undefined ? `since block ${from}` : `from block ${from} until block ${to}`;
      parts.push(`without ${currency} ${blocks} (${isoTime(since)})`);
    }
  }
  if (problem !== undefined) parts.push(`fails: ${problem}`);
  if (cursor?.node_limits) parts.push(`reads slowly: ${cursor.node_limits}`);
  if (!isConfigured) parts.push('not configured any more: what arrives there is not seen');
  return parts.join('  ');
}

async function readWaiting({ database, chains, currencies }: CommandContext): Promise<WaitingPayments[]> {
  const waiting: WaitingPayments[] = [];
  for (const { mode, network: code } of chains) {
    const network = currencies.network(mode, code);
    if (network) waiting.push(...(await findWaiting(database.reader, network)));
  }
  return waiting;
}

const waitsFor: Readonly<Record<WaitingPayments['waitsFor'], string>> = {
  'second node': 'for a node of a second provider to confirm the transfers (crossCheckAbove)',
  final: 'until the transfers are in a final block',
};

function waitingLine({ mode, network, waitsFor: reason, payments, count, height }: WaitingPayments): string {
  const more = count > payments.length ? ` and ${count - payments.length} more` : '';
  const named = `${payments.length === 1 ? 'payment' : 'payments'} ${payments.join(', ')}${more}`;
  const verb = count === 1 ? 'waits' : 'wait';
  return `${mode}  ${network}  ${named}: ${verb} ${waitsFor[reason]}, since block ${height}`;
}

function rateLine({ source, market, problem }: RateTrouble): string {
  return ['exchange rates', source, ...(market === undefined ? [] : [market]), problem].join('  ');
}

function quarantineJson(row: Quarantined) {
  return {
    ...recordJson(row, 'mode', 'network'),
    ...(row.payment_id !== null && { paymentId: row.payment_id }),
    ...(row.transfer !== null && { transfer: row.id }),
    ...recordJson(row, 'reason', 'tries', 'failed_at', 'retry_at'),
  };
}

function quarantineLine(row: Quarantined): string {
  const { mode, network, tries, reason } = row;
  const what = row.transfer === null ? `payment ${row.payment_id ?? ''}` : `transfer ${row.id}`;
  const failures = `failed ${counted(tries, 'time')} since ${isoTime(row.failed_at)}`;
  return [mode, network, what, failures, reason].join('  ');
}
