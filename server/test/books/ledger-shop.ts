/** A shop whose postings tests make by hand, in live mode too, with ids that count up: what `books export` makes of them is the same each time. */
import { books as booksModule } from '../../src/modules/books/module.js';
import { createLedger, moved, type Posting } from '../../src/core/ledger/ledger.js';
import type { PostingKey } from '../../src/core/ledger/posting-kinds.js';
import type { Scope } from '../../src/core/shared/scope.js';
import type { TestEngine } from '../support/engines.js';
import { openSteppedShop } from '../support/stepped-shop.js';

export type LedgerShop = Awaited<ReturnType<typeof openLedgerShop>>;

export async function openLedgerShop(engine: TestEngine) {
  let count = 0;
  const newId = () => `01BK${String((count += 1)).padStart(22, '0')}`;
  const shop = await openSteppedShop(engine, { newId });
  const clock = { now: () => shop.time.now, real: () => shop.time.now };
  const ledger = createLedger(newId, clock);
  const { id: merchantId } = await shop.database.write((transaction) =>
    shop.app.merchants.create(transaction, { name: 'Books', feeBasisPoints: 100 }),
  );
  const live: Scope = { merchantId, mode: 'live' };
  const job = (name: string) => async () => {
    for (const one of booksModule.rules(shop.app).jobs())
      if (one.name === name) await one.run(new AbortController().signal);
  };

  return {
    shop,
    ledger,
    newId,
    merchantId,
    live,
    keepRates: job('book-rates'),
    keepDays: job('book-days'),
    nameMerchants: job('book-names'),

    post: (posting: Posting) => shop.database.write((transaction) => ledger.post(transaction, posting)),

    /** Posts that something was received, at a time. */
    async receive(
      at: number,
      units: bigint,
      { currency = 'USDT', of = live, key = `receipt:${newId()}` as PostingKey } = {},
    ) {
      shop.time.now = at;
      const { merchantId: owner, mode } = of;
      const to = { kind: 'unallocated', merchantId: owner } as const;
      const entries = moved({ kind: 'custody', network: 'tron', merchantId: owner }, to, units);
      await shop.database.write((transaction) => ledger.post(transaction, { key, mode, currency, entries }));
    },

    setCurrency: (booksCurrency: string) =>
      shop.database.write((transaction) =>
        shop.app.merchants.update(transaction, merchantId, { booksCurrency }),
      ),
  };
}
