/**
 * All facts about a payment's money reach every outlet, in any state: each set of late, over, short, wrong coin and
 * wrong network against the record, the events, the log, the lists, home and refunds, on both engines.
 */
import type { PaymentFinding, PaymentRecord } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestEngine } from '../support/engines.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

type Findings = readonly PaymentFinding[];

const sums: readonly (readonly [Findings, number])[] = [
  [[], 10],
  [['over'], 40],
  [['short'], 4],
];
const withOrWithout = (finding: PaymentFinding): readonly Findings[] => [[], [finding]];
/** Every set that a payment can have. */
const sets: readonly { readonly set: Findings; readonly amount: number }[] = withOrWithout('late').flatMap(
  (late) =>
    sums.flatMap(([sum, amount]) =>
      withOrWithout('wrong_coin').flatMap((coin) =>
        withOrWithout('wrong_network').map((network) => ({
          set: [...late, ...sum, ...coin, ...network],
          amount,
        })),
      ),
    ),
);

interface Outlets {
  readonly status: string;
  /** In any order. */
  readonly events: readonly string[];
  readonly reviews: readonly string[];
  readonly log: readonly string[];
  readonly refunds: readonly string[];
}

/** The reports of each outlet about a set. */
function expected(set: Findings): Outlets {
  const has = (finding: PaymentFinding) => set.includes(finding);
  const isPaid = !has('short');
  const wrong = (['wrong_coin', 'wrong_network'] as const).filter(has);
  return {
    status: isPaid ? 'success' : 'error',
    events: [
      isPaid ? 'payment.success' : 'payment.error',
      ...(has('over') ? ['payment.overpaid'] : []),
      // It had expired without a part before.
      ...(has('late') ? ['payment.late', ...(isPaid ? ['payment.error'] : ['payment.unaccepted late'])] : []),
      ...(has('short') && !has('late') ? ['payment.partial'] : []),
      ...wrong.map((reason) => `payment.unaccepted ${reason}`),
    ],
    reviews: [
      ...(has('late') && !isPaid ? ['late'] : []),
      ...(has('short') ? ['short'] : []),
      ...(has('over') ? ['excess'] : []),
      ...(wrong.length > 0 ? ['wrong_coin'] : []),
    ],
    log: [
      ...(has('over') ? (has('late') ? ['completed_late', 'overpaid'] : ['completed_over']) : []),
      ...(isPaid && !has('over') ? [has('late') ? 'completed_late' : 'completed'] : []),
      ...(has('short') ? [has('late') ? 'expired_late' : 'expired_partial'] : []),
      ...(wrong.length > 0 || (has('late') && !isPaid) ? ['unaccepted'] : []),
    ],
    refunds: [...(has('over') ? ['excess'] : []), ...wrong],
  };
}

const outcomes = new Set<string>([
  ...['completed', 'completed_over', 'completed_late', 'overpaid', 'unaccepted', 'expired_partial'],
  ...['expired_late'],
]);

export const testFindings = (engine: TestEngine): unknown =>
  describe(`every fact of a payment is reported, on ${engine.name}`, () => {
    let server: TestServer;
    let merchant: Shop;
    /** By their sets. */
    const ids = new Map<string, string>();
    beforeAll(async () => {
      server = await startServer({ engine });
      merchant = openShop(server);
      await merchant.setWebhookUrl('http://127.0.0.1:9/');
      await play();
    });
    afterAll(async () => {
      await merchant.expectBooksInOrder();
      await server.stop();
    });

    const idOf = (findings: Findings) => ids.get(findings.join()) ?? '';

    /** Pays every payment at once, those that come late after the others have expired. */
    async function play(): Promise<void> {
      const mine = async () => {
        for (const network of ['ethereum', 'polygon']) await merchant.mine(2, network);
      };
      const late: (() => Promise<unknown>)[] = [];
      for (const { set, amount } of sets) {
        const { id, address } = await merchant.lock({ currency: 'USDT', network: 'ethereum' });
        ids.set(set.join(), id);
        const sendIt = () => merchant.send(address, amount, { network: 'ethereum' });
        if (set.includes('late')) late.push(sendIt);
        else await sendIt();
        if (set.includes('wrong_coin')) {
          await merchant.send(address, 70, { network: 'ethereum', currency: 'USDC' });
        }
        if (set.includes('wrong_network')) await merchant.send(address, 100, { network: 'polygon' });
      }
      await mine();
      await merchant.advance(1801);
      await mine();
      for (const sendIt of late) await sendIt();
      await mine();
    }

    /** The sets of the payments in a list of those that need a person. */
    async function reviewed(review: string): Promise<string[]> {
      const rows = await merchant.ask<{ id: string }[]>('GET', `/v1/transactions?review=${review}&skip=100`);
      const names = new Map([...ids].map(([name, id]) => [id, name]));
      return rows.map(({ id }) => names.get(id) ?? id).sort();
    }
    const setsWith = (review: string) =>
      sets.flatMap(({ set }) => (expected(set).reviews.includes(review) ? [set.join()] : [])).sort();

    it.each(sets)('$set in the record, the events and the log', async ({ set, amount }) => {
      const wanted = expected(set);
      const id = idOf(set);
      const record = await merchant.ask<PaymentRecord>('GET', `/v1/transactions/${id}/verify`);
      expect(record.status).toBe(wanted.status);
      expect(record.findings ?? []).toEqual(set);

      const events = (await merchant.eventsOf(id)).map(({ type, data }) => {
        const { unaccepted } = data as { unaccepted?: { reason: string } };
        return { type, unaccepted };
      });
      const names = events.map(({ type, unaccepted }) =>
        [type, unaccepted?.reason].filter(Boolean).join(' '),
      );
      expect(names.sort()).toEqual([...wanted.events].sort());
      const unaccepted = events.flatMap(({ unaccepted }) => unaccepted ?? []);
      for (const one of unaccepted) {
        const asset = {
          wrong_coin: { currency: 'USDC', network: 'ethereum', amount: 70, total: 70 },
          wrong_network: { currency: 'USDT', network: 'polygon', amount: 100, total: 100 },
        }[one.reason] ?? { currency: 'USDT', network: 'ethereum', amount, total: amount };
        expect(one).toEqual({ reason: one.reason, ...asset });
      }

      const codes = record.transactionTimeLog.map(({ code }) => code).filter((code) => outcomes.has(code));
      expect([...new Set<string>(codes)].sort()).toEqual([...wanted.log].sort());
      expect(codes.filter((code) => code === 'unaccepted')).toHaveLength(unaccepted.length);

      // The widget draws these: the excess from the sums, and the transfers that do not count.
      expect((record.amountReceived ?? 0) > (record.amount ?? 0)).toBe(set.includes('over'));
      const others = record.receipts.filter(({ counts }) => !counts);
      expect(others).toHaveLength(set.filter((finding) => finding.startsWith('wrong')).length);
    });

    it('in the lists of payments that need a person, in all that fit, and on home', async () => {
      const { attention } = await merchant.ask<{ attention: { code: string; count: number }[] }>(
        'GET',
        '/v1/home',
      );
      for (const review of ['late', 'short', 'excess', 'wrong_coin', 'reversed']) {
        expect(await reviewed(review), review).toEqual(setsWith(review));
        const counted = attention.find(({ code }) => code === `payments_${review}`)?.count ?? 0;
        expect(counted, review).toBe(setsWith(review).length);
      }
    });

    it('in the refunds that it has money for, after which nobody needs to look', async () => {
      const wishes = [
        ['excess', { kind: 'excess', networkFee: 'payer' }],
        ['wrong_coin', { kind: 'unaccepted', currency: 'USDC', network: 'ethereum', networkFee: 'payer' }],
        ['wrong_network', { kind: 'unaccepted', currency: 'USDT', network: 'polygon', networkFee: 'payer' }],
      ] as const;
      for (const { set } of sets) {
        const made: string[] = [];
        for (const [name, body] of wishes) {
          const { status } = await server.api('POST', `/v1/payments/${idOf(set)}/refunds`, { body });
          if (status === 200) made.push(name);
        }
        expect(made, set.join()).toEqual(expected(set).refunds);
      }
      expect(await reviewed('excess')).toEqual([]);
      expect(await reviewed('wrong_coin')).toEqual([]);
      expect(await reviewed('late')).toEqual(['late,short']);
    });
  });
