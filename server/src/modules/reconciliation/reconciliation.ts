/**
 * Keeps the books in step with the balances of addresses: at each block a part of the addresses that wait for money,
 * and all that were ever given out in a round that ends within a day. Its progress is in the database, so that
 * several servers share it.
 */
import type { Scope } from '../../core/shared/scope.js';
import { sql } from 'kysely';
import { everyPage } from '../../core/db/pages.js';
import type { ChainCursorRow } from '../../core/db/schema.js';
import type { ReconciliationTable } from './tables.js';
import { readCursor } from '../../core/scanning/cursors.js';
import { requireCursor } from '../../core/scanning/rescan.js';
import type { NetworkRef } from '../../core/chains/chain.js';
import { isNodeFailure } from '../networks/rpc/node-error.js';
import { NodesUnavailable } from '../../core/chains/nodes-unavailable.js';
import { ownedAddresses } from '../../core/addresses/owners.js';
import { placeKey, type Place } from '../networks/booked.js';
import { createOpenPicker, lastSequence, pickRound, type GivenAddress } from './pick.js';
import { compare, outcomeSoFar, reconcile, type Finding, type Look } from './reconcile.js';
import { refOf, type ReconcileDeps, type Reconciled } from './reconcile-deps.js';
import * as store from './store.js';
import { reconciliationFigures } from './figures.js';
import { groupBy } from '../../core/shared/group-by.js';

export type Reconciliation = ReturnType<typeof createReconciliation>;

/** A scan that is further behind reads blocks: until it is up to date, the books lack their receipts. */
const mostBehind = 5;
/** The number of differing addresses that are checked again at each block. */
const mostSeen = 100;
/** A page of the round takes a minute, unless there are so many that the round would last longer than this. */
const pageMs = 60_000;
const roundMs = 20 * 3_600_000;
/** With few addresses, a round is over soon, and the next one begins this long after it began. */
const betweenRoundsMs = 3_600_000;

export function createReconciliation(deps: ReconcileDeps) {
  const { database, log, now, connected } = deps;
  const networks = connected.filter((one): one is Reconciled => one.balances !== undefined);
  const pickers = new Map(
    networks.map((one) => [one, createOpenPicker(database, one.network.mode, one.network.code)]),
  );

  const familyOf = ({ network: { mode, family } }: Reconciled) =>
    connected
      .filter(({ network }) => network.mode === mode && network.family === family)
      .map(({ network }) => network.code);

  const everyAsset = (
    { chainAssets }: Reconciled,
    given: readonly Pick<GivenAddress, 'address'>[],
  ): Place[] =>
    given.flatMap(({ address }) => Object.keys(chainAssets).map((currency) => ({ address, currency })));

  async function readState(ref: NetworkRef, height: number): Promise<ReconciliationTable | undefined> {
    const state = await store.readReconciliation(database.reader, ref);
    if (state) return state;
    const last_position = await lastSequence(database);
    await store.begin(database, {
      ...ref,
      height: height - 1,
      unread: 0,
      position: 0,
      last_position,
      round_height: height,
      former_height: 0,
      started_at: now(),
      finished_at: null,
    });
    return store.readReconciliation(database.reader, ref);
  }

  async function lookAgain(
    network: Reconciled,
    at: ChainCursorRow,
    given: { readonly withDust: boolean; readonly address?: string | undefined },
    signal: AbortSignal,
  ): Promise<Finding[]> {
    const { withDust, address } = given;
    const states = withDust ? (['seen', 'dust'] as const) : (['seen'] as const);
    const rows = await store.seenBefore(database.reader, network.chain, at.height, states, address, mostSeen);
    const findings: Finding[] = [];
    for (const [except, list] of groupBy(rows, ({ node }) => node)) {
      findings.push(...(await reconcile({ deps, network, signal, withDust, except, above: 0 }, list, at)));
    }
    return findings;
  }

  /** Reads a page of the round when it is due. */
  async function advanceRound(
    network: Reconciled,
    at: ChainCursorRow,
    state: ReconciliationTable,
    signal: AbortSignal,
  ): Promise<void> {
    const { position, last_position: last, started_at: startedAt, former_height: above } = state;
    const elapsed = now() - startedAt;
    if (position >= last) {
      if (elapsed < betweenRoundsMs) return;
      const begun = { position: 0, last_position: await lastSequence(database), started_at: now() };
      const heights = { former_height: state.round_height, round_height: at.height };
      await store.change(database, state, { position }, { ...begun, ...heights });
      return;
    }
    const { pageSize } = network.balances;
    const durationMs = Math.min(roundMs, Math.ceil(last / pageSize) * pageMs);
    if (position / last > elapsed / durationMs) return;
    const picked = await pickRound(database, network.network.mode, familyOf(network), position, pageSize);
    await reconcile({ deps, network, signal, above }, everyAsset(network, picked), at);
    const next = picked.length < pageSize ? last : Math.min(last, picked.at(-1)?.sequence ?? last);
    const changes = { position: next, ...(next >= last && { finished_at: now() }) };
    await store.change(database, state, { position }, changes);
  }

  async function work(network: Reconciled, signal: AbortSignal): Promise<void> {
    const ref = refOf(network);
    const at = await readCursor(database.reader, ref);
    if (!at || at.head_height - at.height > mostBehind) return;
    const state = await readState(ref, at.height);
    if (!state || state.height === at.height) return;
    const { height } = at;
    // Of several servers, the one that gets here first works on the block.
    if (!(await store.change(database, ref, { height: state.height }, { height }))) return;
    try {
      await lookAgain(network, at, { withDust: false }, signal);
      const open = (await pickers.get(network)?.next(network.balances.pageSize)) ?? [];
      await reconcile({ deps, network, signal, above: state.former_height }, open, at);
      await advanceRound(network, at, state, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof NodesUnavailable) && !isNodeFailure(error)) throw error;
      await store.change(database, ref, {}, { unread: sql`unread + 1` });
      log.warn(
        { ...ref, err: error },
        'No node reported the balances after a block; the next block is tried',
      );
    }
  }

  /** Works on the newest block of each network that was scanned, unless another server does. */
  async function advance(signal: AbortSignal): Promise<void> {
    const results = await Promise.allSettled(networks.map((network) => work(network, signal)));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  return {
    /** The networks whose nodes report balances. */
    networks,
    advance,
    /** Balances that are not what the books say, but for those that are being looked at again. At most 1000. */
    differences: () => store.listDifferences(database.reader),
    status: () => store.readStatus(database.reader),
    figures: () => reconciliationFigures(() => store.readStatus(database.reader), deps.now),
    /** The number of addresses of a merchant's mode that hold less than the books have. */
    shortages: (scope: Scope) =>
      store.countShortages(
        database.reader,
        scope,
        networks.map(({ network }) => network.code),
      ),

    /** Differences at a merchant's addresses, but for those that are being looked at again. At most 200. */
    differencesOf: (scope: Scope) =>
      store.listOwn(
        database.reader,
        scope,
        networks.map(({ network }) => network.code),
      ),

    /**
     * Compares a part of a merchant's addresses, and changes nothing.
     * @param after the `next` of the part before @throws NodesUnavailable
     */
    async comparePart(network: Reconciled, scope: Scope, after: number, signal: AbortSignal) {
      const at = await requireCursor(database.reader, refOf(network));
      const { pageSize } = network.balances;
      const picked = await pickRound(database, scope.mode, familyOf(network), after, pageSize);
      const owned = await ownedAddresses(
        database.reader,
        scope,
        picked.map(({ address }) => address),
      );
      const own = picked.filter(({ address }) => owned.has(address));
      const findings =
        own.length === 0
          ? []
          : (await compare({ deps, network, signal, above: 0 }, everyAsset(network, own), at)).map(findingOf);
      const next = picked.length < pageSize ? null : (picked.at(-1)?.sequence ?? null);
      return { checked: own.length, height: at.height, findings, next, last: await lastSequence(database) };
    },

    /**
     * Compares all addresses of a network, or one, at the newest block that was scanned.
     * @param apply true to act on differences: dust becomes a receipt then too
     * @throws NodesUnavailable
     */
    async check(network: Reconciled, address: string | undefined, apply: boolean, signal: AbortSignal) {
      const ref = refOf(network);
      const at = await requireCursor(database.reader, ref);
      const state = await readState(ref, at.height);
      const pass = { deps, network, signal, above: state?.former_height ?? 0, withDust: true };
      const findings: Finding[] = [];
      if (apply) findings.push(...(await lookAgain(network, at, { address, withDust: true }, signal)));
      const { pageSize } = network.balances;
      const pages =
        address === undefined
          ? everyPage<GivenAddress>(pageSize, (last) =>
              pickRound(database, ref.mode, familyOf(network), last?.sequence ?? 0, pageSize),
            )
          : [[{ address }]];
      let checked = 0;
      for await (const page of pages) {
        const places = everyAsset(network, page);
        if (apply) findings.push(...(await reconcile(pass, places, at)));
        else findings.push(...(await compare(pass, places, at)).map(findingOf));
        checked += page.length;
      }
      return { checked, height: at.height, findings: lastOfEach(findings) };
    },

    jobs: () => (networks.length === 0 ? [] : [{ name: 'reconciliation', intervalMs: 1000, run: advance }]),
  };
}

const findingOf = ({ place, difference, row }: Look): Finding => ({
  ...place,
  difference,
  outcome: outcomeSoFar(row),
});

/** A credited finding stays so, although nothing differs afterwards. */
function lastOfEach(findings: readonly Finding[]): Finding[] {
  const last = new Map<string, Finding>();
  for (const finding of findings) {
    const key = placeKey(finding);
    if (last.get(key)?.outcome !== 'credited') last.set(key, finding);
  }
  return [...last.values()];
}
