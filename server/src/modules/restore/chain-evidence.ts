/**
 * Looks in the blocks from before the server's start for events that a restored database does not know: money at an
 * address that was never given out, the exact twin of a transfer that was never exported, and a coin that left while
 * transfers wait to be paid with it. It finds a restore although the marker is lost.
 *
 * Later blocks say nothing: what a running server has done is in its database. Nor does what anybody can send: dust,
 * money at an unknown address while the marker has seen that nothing is missing, and a payment from a wallet that is
 * not the merchant's.
 */
import type { AddressSource } from '../../core/addresses/address-sources.js';
import { isBitcoinLike } from '../../core/families/kinds.js';
import { isOpen, type DepositKeys } from '../../core/addresses/deposit-keys.js';
import type { ChainBlock, ChainTransfer } from '../../core/chains/chain.js';
import type { ScanBatch } from '../../core/scanning/scan.js';
import type { Transaction } from '../../core/db/engine.js';
import { afterCommit } from '../../core/db/transaction-context.js';
import type { TransferRow } from '../../core/db/schema.js';
import type { Hooks } from '../../core/hooks.js';
import { scopeOf, type Mode } from '../../core/shared/scope.js';
import type { RestoreDeps } from './restore.js';
import {
  readIndexes,
  type MissingCoin,
  type PaidTransfer,
  type Suspicion,
  type UnknownAddress,
} from './restore-store.js';
import { unheldBefore } from '../../core/withdrawals/waiting-transfers.js';

interface ChainEvidenceDeps extends Pick<RestoreDeps, 'database' | 'connected' | 'marker'> {
  readonly depositKeys: Pick<DepositKeys, 'list' | 'preview'>;
  /** The coins, as `hash:index`, that a merchant was paid and that are in no PSBT, in parts. */
  readonly untouchedCoins: Hooks['untouchedCoins'];
  readonly suspect: (transaction: Transaction, found: Partial<Suspicion>) => Promise<void>;
  /**
   * Reports evidence that is no reason to stop: money at unknown addresses, and strangers' payments that match a
   * transfer.
   */
  readonly warn: (
    transaction: Transaction,
    addresses: readonly UnknownAddress[],
    paid: readonly TransferRow[],
  ) => Promise<void>;
  /** True if a sum is too small to prove anything. */
  readonly isDust: (network: string, transfer: Pick<ChainTransfer, 'currency' | 'amount'>) => boolean;
  /** When the server was started, in real time. */
  readonly startedAt: number;
}

interface Evidence extends Pick<Suspicion, 'addresses' | 'transfers' | 'coins'> {
  /** Money at unknown addresses that is no reason to stop. */
  readonly warnings: readonly UnknownAddress[];
  /** Transfers that somebody else may have paid. */
  readonly paidByOthers: readonly TransferRow[];
}

const noEvidence: Evidence = { addresses: [], transfers: [], coins: [], warnings: [], paidByOthers: [] };

/** So many addresses after the last one that was given out are looked for. */
const lookAhead = 100;
/** Clocks of chains and servers differ. */
const graceMs = 120_000;
/** Miners of Bitcoin may write so much too late a time into a block. */
const aheadMs = 3 * 3_600_000;
/** A node may be behind when the server starts, and miners of Bitcoin may write any time of the next hours into a block. */
const catchUpMs = 60_000;

interface Sought {
  /** By address in lower case. */
  readonly addresses: ReadonlyMap<string, { readonly sourceId: string; readonly index: number }>;
  readonly transfers: readonly TransferRow[];
  /** Of merchants whose transfers wait on networks of Bitcoin's kind: by network, and then the merchant of each `hash:index`. */
  readonly coins: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** In lower case, by merchant, replaced ones too. */
  readonly treasuries: ReadonlyMap<string, ReadonlySet<string>>;
}

const nothing: Sought = { addresses: new Map(), transfers: [], coins: new Map(), treasuries: new Map() };

export function createChainEvidence(deps: ChainEvidenceDeps) {
  const { database, depositKeys, connected, startedAt } = deps;
  const live = connected.filter(({ network }) => network.mode === 'live').map(({ network }) => network);
  /** The networks whose blocks from before the start were not all read yet. */
  const open = new Set(live.map(({ code }) => code));
  let loading: Promise<Sought> | undefined;

  async function load(): Promise<Sought> {
    const addresses = new Map<string, { sourceId: string; index: number }>();
    const treasuries = new Map<string, Set<string>>();
    for (const key of await depositKeys.list(database.reader)) {
      if (key.mode !== 'live') continue;
      if (key.treasury !== undefined) {
        const own = treasuries.get(key.merchantId) ?? new Set();
        treasuries.set(key.merchantId, own.add(key.treasury.toLowerCase()));
      }
      if (!isOpen(key.state)) continue;
      const nets = new Set(live.filter(({ family }) => family === key.family).map((one) => one.addressNet));
      for (const net of nets) {
        const source: AddressSource = depositKeys.preview(key, key.family, key, net);
        for (let index = key.used; index < key.used + lookAhead; index += 1) {
          addresses.set(source.derive(index).toLowerCase(), { sourceId: key.sourceId, index });
        }
        // Lets other work proceed meanwhile.
        await new Promise(setImmediate);
      }
    }
    const transfers = await unheldBefore(database.reader, startedAt);
    return { addresses, transfers, coins: await loadCoins(transfers), treasuries };
  }

  async function loadCoins(transfers: readonly TransferRow[]): Promise<Sought['coins']> {
    const coins = new Map<string, Map<string, string>>();
    const payers = new Map(transfers.map((row) => [`${row.network}/${row.merchant_id}`, row]));
    for (const row of payers.values()) {
      const { network, currency, merchant_id: merchantId } = row;
      if (!hasCoins(network)) continue;
      const own = coins.get(network) ?? new Map<string, string>();
      coins.set(network, own);
      const of = { scope: scopeOf(row), network, currency };
      for await (const part of deps.untouchedCoins(database.reader, of) ?? []) {
        for (const coin of part) own.set(coin, merchantId);
      }
    }
    return coins;
  }

  function sought(): Promise<Sought> {
    loading ??= load();
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  }

  const hasCoins = (code: string) => isBitcoinLike(live.find((network) => network.code === code)?.family);

  /** True if a block may be from before the server's start. */
  const isOld = ({ network, syncedBefore = 0 }: ScanBatch, { time }: ChainBlock) =>
    hasCoins(network) ? syncedBefore < startedAt + catchUpMs : time < startedAt;

  async function collect(transaction: Transaction, batch: ScanBatch): Promise<Evidence> {
    const { addresses, transfers, coins, treasuries } = (await loading) ?? nothing;
    const { network } = batch;
    const unknown: (UnknownAddress & { readonly time: number })[] = [];
    const twins: (PaidTransfer & { readonly isOwn: boolean })[] = [];
    const gone: (MissingCoin & { readonly time: number })[] = [];
    for (const block of batch.blocks) {
      if (!isOld(batch, block)) continue;
      const spending = new Map(
        (block.spent ?? []).map(({ coin, txHash }) => [txHash, coins.get(network)?.get(coin)]),
      );
      for (const { address, currency, amount, txHash, senders } of block.transfers) {
        const found = deps.isDust(network, { currency, amount })
          ? undefined
          : addresses.get(address.toLowerCase());
        if (found) unknown.push({ ...found, address, network, txHash, time: block.time });
        const twin = transfers.find(
          (row) =>
            row.network === network &&
            row.currency === currency &&
            row.address === address &&
            row.amount === amount &&
            row.created_at <= block.time + graceMs,
        );
        if (!twin) continue;
        const { id: transferId, merchant_id: merchantId } = twin;
        const own = treasuries.get(merchantId);
        const isOwn =
          spending.get(txHash) === merchantId || senders.some((sender) => own?.has(sender.toLowerCase()));
        twins.push({ transferId, merchantId, network, txHash, isOwn });
      }
      for (const { coin, txHash } of block.spent ?? []) {
        const merchantId = coins.get(network)?.get(coin);
        if (merchantId !== undefined) gone.push({ merchantId, network, coin, txHash, time: block.time });
      }
    }
    if (unknown.length + twins.length + gone.length === 0) return noEvidence;
    // Addresses and transfers that were given out, or held, since the start are known, also by a confirmation.
    const next = new Map(
      await readIndexes(transaction, [...new Set(unknown.map(({ sourceId }) => sourceId))]),
    );
    const unheld = await unheldBefore(transaction, startedAt);
    const still = unknown.filter(({ sourceId, index }) => index >= (next.get(sourceId) ?? 0));
    // A marker that was there before the money knows what had been given out by then, and would be ahead of a restored database.
    const since = deps.marker.since() ?? Number.POSITIVE_INFINITY;
    const seen = ({ time }: { readonly time: number }) => since + (hasCoins(network) ? aheadMs : 0) <= time;
    const withoutTime = ({ time: _, ...address }: (typeof still)[number]): UnknownAddress => address;
    const waiting = twins.filter(({ transferId }) => unheld.some(({ id }) => id === transferId));
    return {
      addresses: still.filter((one) => !seen(one)).map(withoutTime),
      warnings: still.filter(seen).map(withoutTime),
      transfers: waiting.filter(({ isOwn }) => isOwn).map(({ isOwn: _, ...twin }) => twin),
      paidByOthers: unheld.filter(({ id }) =>
        waiting.some(({ transferId, isOwn }) => transferId === id && !isOwn),
      ),
      coins: gone
        .filter(({ merchantId, time }) =>
          unheld.some(
            (row) =>
              row.merchant_id === merchantId && row.network === network && row.created_at <= time + graceMs,
          ),
        )
        .map(({ merchantId, coin, txHash }) => ({ merchantId, network, coin, txHash })),
    };
  }

  return {
    /** The addresses among these that blocks should be read for, as they were asked. */
    async watched(mode: Mode, addresses: readonly string[]): Promise<readonly string[]> {
      if (mode !== 'live' || open.size === 0) return [];
      const { addresses: ahead, transfers } = await sought();
      const paid = new Set(transfers.map((row) => row.address.toLowerCase()));
      return addresses.filter((one) => ahead.has(one.toLowerCase()) || paid.has(one.toLowerCase()));
    },

    async soughtCoins(mode: Mode, network: string): Promise<ReadonlySet<string>> {
      if (mode !== 'live' || !open.has(network)) return new Set();
      return new Set((await sought()).coins.get(network)?.keys());
    },

    /** Notes what a batch of blocks shows, in the transaction that moves the cursor. */
    async follow(transaction: Transaction, batch: ScanBatch): Promise<void> {
      // Blocks that are read again were read before the backup.
      if (batch.mode !== 'live' || !open.has(batch.network) || batch.syncedBefore === undefined) return;
      const { warnings, paidByOthers, ...found } = await collect(transaction, batch);
      const isAny = Object.values(found).some((list) => list.length > 0);
      if (isAny) await deps.suspect(transaction, found);
      if (warnings.length + paidByOthers.length > 0) await deps.warn(transaction, warnings, paidByOthers);
      // A transaction that is rolled back runs again, and must find it.
      if (!batch.blocks.every((block) => isOld(batch, block)))
        afterCommit(transaction, () => open.delete(batch.network));
    },
  };
}
