/** Chooses the addresses whose balances are compared next: a part of those that wait for money, and a part of all. */
import { sql } from 'kysely';
import type { Database } from '../../core/db/database.js';
import { isPayable } from '../../core/db/payment-status.js';
import type { Mode } from '../../core/shared/scope.js';
import type { Place } from '../networks/booked.js';

/** The most merchants whose open payments are compared at one block. */
const mostMerchants = 10;

/**
 * Takes turns between merchants, and between the open payments of each, so that nobody's flood pushes others out. Its
 * position belongs to this process: it starts over with the server, and the round through all addresses, which is
 * kept in the database, leaves nobody out.
 */
export function createOpenPicker({ reader }: Database, mode: Mode, network: string) {
  let lastMerchant = '';
  let lastWallet = '';
  /** The last payment that was read, by merchant. */
  const lastPayments = new Map<string, string>();

  const payable = () =>
    reader
      .selectFrom('payments')
      .where((e) => e.and({ mode, network }))
      .where(isPayable);

  async function nextMerchants(): Promise<string[]> {
    const merchants: string[] = [];
    for (let after = lastMerchant; merchants.length < mostMerchants;) {
      const row = await payable()
        .select('merchant_id')
        .where('merchant_id', '>', after)
        .orderBy('merchant_id')
        .limit(1)
        .executeTakeFirst();
      if (row && merchants.includes(row.merchant_id)) break;
      if (row) merchants.push(row.merchant_id);
      else if (after === '') break;
      after = row?.merchant_id ?? '';
    }
    lastMerchant = merchants.at(-1) ?? '';
    return merchants;
  }

  async function nextPayments(merchantId: string, most: number): Promise<Place[]> {
    /**
     * By the whole key of the index, and not with a condition for each column: PostgreSQL would take those for so rare that it
     * reads all payments of the merchant by another index, and sorts them.
     */
    const select = async (after: string, limit: number) => {
      const rows = await reader
        .selectFrom('payments')
        .select(['mode', 'network', 'merchant_id', 'id', 'address', 'currency'])
        .where(isPayable)
        .where((e) =>
          e(
            e.refTuple('mode', 'network', 'merchant_id', 'id'),
            '>',
            e.tuple(mode, network, merchantId, after),
          ),
        )
        .orderBy('mode')
        .orderBy('network')
        .orderBy('merchant_id')
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.filter(
        (row) => row.mode === mode && row.network === network && row.merchant_id === merchantId,
      );
    };
    const after = lastPayments.get(merchantId) ?? '';
    const rows = await select(after, most);
    if (rows.length < most && after !== '') rows.push(...(await select('', most - rows.length)));
    lastPayments.set(merchantId, rows.at(-1)?.id ?? '');
    return rows.flatMap(({ address, currency }) =>
      address !== null && currency !== null ? { address, currency } : [],
    );
  }

  async function nextWallets(most: number): Promise<Place[]> {
    const rows = await reader
      .selectFrom('addresses')
      .select(['wallet_id', 'address', 'currency'])
      .where('wallet_id', '>', lastWallet)
      // Not by an index of theirs: SQLite would read and sort all addresses of the network.
      .where(sql`mode || ''`, '=', mode)
      .where(sql`network || ''`, '=', network)
      .orderBy('wallet_id')
      .limit(most)
      .execute();
    lastWallet = rows.length < most ? '' : (rows.at(-1)?.wallet_id ?? '');
    return rows;
  }

  return {
    /** @param most of payments and wallets together */
    async next(most: number): Promise<Place[]> {
      const mostWallets = Math.ceil(most / 3);
      const mostPayments = most - mostWallets;
      const merchants = await nextMerchants();
      const places: Place[] = [];
      for (const [index, merchant] of merchants.entries()) {
        const share = Math.ceil((mostPayments - places.length) / (merchants.length - index));
        places.push(...(await nextPayments(merchant, share)));
      }
      return [...places, ...(await nextWallets(mostWallets))];
    },
  };
}

export type GivenAddress = Awaited<ReturnType<typeof pickRound>>[number];

/**
 * The next addresses of the round, of all networks that write addresses the same way: coins can be sent on the wrong
 * one. Network by network and by the whole key of the index: both engines would rather go through the addresses of
 * all networks in the order that is asked for.
 */
export async function pickRound(
  { reader }: Database,
  mode: Mode,
  networks: readonly string[],
  after: number,
  most: number,
) {
  const rows = await Promise.all(
    networks.map(async (network) => {
      const next = await reader
        .selectFrom('addresses')
        .select(['mode', 'network', 'sequence', 'address'])
        .where((e) => e(e.refTuple('mode', 'network', 'sequence'), '>', e.tuple(mode, network, after)))
        .orderBy('mode')
        .orderBy('network')
        .orderBy('sequence')
        .limit(most)
        .execute();
      return next.filter((row) => row.mode === mode && row.network === network);
    }),
  );
  return rows
    .flat()
    .sort((a, b) => a.sequence - b.sequence)
    .slice(0, most)
    .map(({ sequence, address }) => ({ sequence, address }));
}

export async function lastSequence({ reader }: Database): Promise<number> {
  const { last } = await reader
    .selectFrom('addresses')
    .select((e) => e.fn.max<number | null>('sequence').as('last'))
    .executeTakeFirstOrThrow();
  return last ?? 0;
}
