/**
 * Looks in the blocks from before the server's start for what a restored database does not know: money at an address that was
 * never given out, and the exact twin of a transfer that was never exported. It finds a restore although the marker is lost, or
 * was restored too.
 *
 * Later blocks say nothing: what a running server has done is in its database. So nobody can stop a running server by paying
 * the next address, which is no secret with a treasury.
 */
import type { AddressSource } from '../addresses/address-sources.js';
import type { DepositKeys } from '../addresses/deposit-keys.js';
import type { ConnectedNetwork } from '../chains/connect.js';
import type { ScanBatch, ScanSink } from '../scanning/scan.js';
import type { Database } from '../db/database.js';
import type { Reader, Transaction } from '../db/engine.js';
import type { TransferTable } from '../db/schema.js';
import type { Mode } from '../shared/scope.js';
import { readIndexes, type PaidTransfer, type Suspicion, type UnknownAddress } from './restore-store.js';

export interface ChainEvidenceDeps {
  readonly database: Database;
  readonly depositKeys: Pick<DepositKeys, 'list' | 'preview'>;
  readonly connected: readonly Pick<ConnectedNetwork, 'network'>[];
  readonly unheldTransfers: (reader: Reader, before: number) => Promise<TransferTable[]>;
  readonly suspect: (transaction: Transaction, found: Partial<Suspicion>) => Promise<void>;
  /** When the server was started, in real time. */
  readonly startedAt: number;
}

/** So many addresses after the last one that was given out are looked for. */
const lookAhead = 100;
/** Clocks of chains and servers differ. */
const graceMs = 120_000;

interface Sought {
  /** By address in lower case. */
  readonly addresses: ReadonlyMap<string, { readonly sourceId: string; readonly index: number }>;
  readonly transfers: readonly TransferTable[];
}

export function createChainEvidence(deps: ChainEvidenceDeps) {
  const { database, depositKeys, connected, startedAt } = deps;
  const live = connected.filter(({ network }) => network.mode === 'live').map(({ network }) => network);
  /** The networks whose blocks from before the start were not all read yet. */
  const open = new Set(live.map(({ code }) => code));
  let loading: Promise<Sought> | undefined;

  async function load(): Promise<Sought> {
    const addresses = new Map<string, { sourceId: string; index: number }>();
    for (const key of await depositKeys.list(database.reader)) {
      if (key.mode !== 'live' || key.replacedAt !== null) continue;
      const nets = new Set(live.filter(({ family }) => family === key.family).map((one) => one.addressNet));
      for (const net of nets) {
        const source: AddressSource = depositKeys.preview(key, key.family, key, net);
        for (let index = key.used; index < key.used + lookAhead; index += 1) {
          addresses.set(source.derive(index).toLowerCase(), { sourceId: key.sourceId, index });
        }
        // Other work goes on meanwhile.
        await new Promise(setImmediate);
      }
    }
    return { addresses, transfers: await deps.unheldTransfers(database.reader, startedAt) };
  }

  async function collect(transaction: Transaction, batch: ScanBatch): Promise<Partial<Suspicion>> {
    const { addresses, transfers } = await (loading ?? { addresses: new Map(), transfers: [] });
    const { network } = batch;
    const unknown: UnknownAddress[] = [];
    const twins: PaidTransfer[] = [];
    for (const block of batch.blocks.filter(({ time }) => time < startedAt)) {
      for (const { address, currency, amount, txHash } of block.transfers) {
        const found = addresses.get(address.toLowerCase());
        if (found) unknown.push({ ...found, address, network, txHash });
        const twin = transfers.find(
          (row) =>
            row.network === network &&
            row.currency === currency &&
            row.address === address &&
            row.amount === amount.toString() &&
            row.created_at <= block.time + graceMs,
        );
        if (twin) twins.push({ transferId: twin.id, network, txHash });
      }
    }
    if (unknown.length + twins.length === 0) return {};
    // What was given out, or held, since the start is known, also by a confirmation.
    const next = new Map(
      await readIndexes(transaction, [...new Set(unknown.map(({ sourceId }) => sourceId))]),
    );
    const unheld = await deps.unheldTransfers(transaction, startedAt);
    return {
      addresses: unknown.filter(({ sourceId, index }) => index >= (next.get(sourceId) ?? 0)),
      transfers: twins.filter(({ transferId }) => unheld.some(({ id }) => id === transferId)),
    };
  }

  return {
    /** Those of the addresses that blocks are to be read for, as they were asked. */
    async watched(mode: Mode, addresses: readonly string[]): Promise<readonly string[]> {
      if (mode !== 'live' || open.size === 0) return [];
      loading ??= load();
      loading.catch(() => {
        loading = undefined;
      });
      const { addresses: ahead, transfers } = await loading;
      const paid = new Set(transfers.map((row) => row.address.toLowerCase()));
      return addresses.filter((one) => ahead.has(one.toLowerCase()) || paid.has(one.toLowerCase()));
    },

    /** Notes what a batch of blocks shows, in the transaction that moves the cursor. */
    follow: (sink: ScanSink): ScanSink => ({
      ...sink,
      async apply(transaction, batch) {
        if (batch.mode === 'live' && open.has(batch.network)) {
          const found = await collect(transaction, batch);
          const isAny = (found.addresses?.length ?? 0) + (found.transfers?.length ?? 0) > 0;
          if (isAny) await deps.suspect(transaction, found);
          if (batch.blocks.some(({ time }) => time >= startedAt)) open.delete(batch.network);
        }
        return sink.apply(transaction, batch);
      },
    }),
  };
}
