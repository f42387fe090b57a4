/**
 * Delays each chunk of the widget in turn, and loads those that arrive together in either order: the page stays alive,
 * and the flow continues.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Tab } from '../support/webdriver.js';
import { idleWallet } from './browser-wallet.js';
import { holdChunks, type HeldChunks } from './held-chunks.js';
import { payerIn, type Payer } from './payer.js';
import { tagOf } from './shop-page.js';
import type { Stage } from './stage.js';

interface Way {
  readonly name: string;
  /** Late while all others have loaded. */
  readonly chunks: readonly string[];
  /** Loaded in parallel: either is late while the other has loaded. */
  readonly pairs: readonly (readonly [string, string])[];
  readonly page: (stage: Stage, reference: string) => Promise<string> | string;
  /** The payer's steps, and the expected result. */
  readonly go: (payer: Payer) => Promise<void>;
}

const payment = (id: string, { publicKey }: Stage['server'], more = '') =>
  `<crypto-checkout public-key="${publicKey}" payment-id="${id}" ${more}></crypto-checkout>`;

/** Simulated networks have no wallets, so the page says that this one has, and announces one. */
const withWallet = `<script>
  const send = fetch;
  fetch = async (...request) => {
    const reply = await send(...request);
    if (!/payments|verify/.test(reply.url)) return reply;
    const body = await reply.json();
    const evm = { chainId: 56, decimals: 18, token: '0x55d398326f99059fF775485246999027B3197955', coin: 'BNB' };
    const payment = body.data && (body.data.payment || body.data);
    if (payment && payment.isCurrencyLocked) payment.evm = evm;
    return new Response(JSON.stringify(body), { status: reply.status, headers: reply.headers });
  };
</script>${idleWallet}`;

const ways: readonly Way[] = [
  {
    name: 'to the address',
    chunks: ['en', 'qr-code'],
    pairs: [
      ['flow', 'load'],
      ['after-qr', 'en-after-qr'],
    ],
    page: tagOf,
    async go(payer) {
      await payer.choose();
      await payer.see('time-log');
      await payer.see('rate');
    },
  },
  {
    name: 'to an ending',
    chunks: [],
    pairs: [['after-qr', 'en-after-qr']],
    async page(stage) {
      const { payment: created } = await stage.create();
      await stage.merchant.payments.cancel({ params: { payment_id: created.id } });
      return payment(created.id, stage.server);
    },
    async go(payer) {
      await payer.reach('cancelled');
      await payer.see('payment-id');
    },
  },
  {
    name: 'into the modal',
    chunks: [],
    pairs: [['modal', 'flow']],
    page: (stage, reference) => tagOf(stage, reference).replace(' ', ' mode="modal" '),
    async go(payer) {
      await payer.see('trigger');
      // A pointer that comes near preloads both.
      await payer.tab.run(() => {
        const root = document.querySelector('crypto-checkout')?.shadowRoot;
        root?.querySelector('slot[name="trigger"]')?.dispatchEvent(new PointerEvent('pointerenter'));
      });
      await payer.press('trigger');
      await payer.reach('choosing-currency');
      await payer.see('dialog');
    },
  },
  {
    name: 'from French to Spanish, with the check of a transfer open',
    chunks: ['fr', 'panel', 'fr-transfer', 'es', 'es-after-qr', 'es-transfer'],
    pairs: [['after-qr', 'fr-after-qr']],
    async page(stage) {
      const { payment: created } = await stage.createLocked('USDT', 'tron');
      return payment(created.id, stage.server, 'locale="fr"');
    },
    async go(payer) {
      await payer.reach('awaiting-funds');
      await payer.see('time-log');
      await payer.tab.run(() => {
        const root = document.querySelector('crypto-checkout')?.shadowRoot;
        root?.querySelector<HTMLElement>('[part="transfer-check"] summary')?.click();
      });
      await expect.poll(() => payer.text('check-transfer')).toBe('Vérifier');
      await payer.tab.run(() => document.querySelector('crypto-checkout')?.setAttribute('locale', 'es'));
      await expect.poll(() => payer.text('check-transfer')).toBe('Comprobar');
      await expect.poll(() => payer.text('time-log')).toContain('Actividad');
    },
  },
  {
    name: 'to the wallets',
    chunks: [],
    pairs: [
      ['wallet-payments', 'en-after-qr'],
      ['wallet-payments', 'after-qr'],
    ],
    async page(stage) {
      const { payment: created } = await stage.createLocked('USDT', 'bsc');
      return withWallet + payment(created.id, stage.server);
    },
    async go(payer) {
      await payer.reach('awaiting-funds');
      await expect.poll(() => payer.text('action')).toBe('Pay with Test Wallet');
      await payer.see('time-log');
    },
  },
];

/** Long enough for other chunks to arrive. */
const lateMs = 50;

/** Runs all orders in an engine. */
export function testArrivalOrders(stage: Stage, open: () => Promise<Tab>): void {
  let chunks: HeldChunks;
  let tab: Tab;
  let count = 0;
  beforeAll(async () => {
    chunks = await holdChunks(stage.server.url);
  });
  beforeEach(async () => {
    tab = await open();
  });
  afterEach(() => tab.close());
  afterAll(() => chunks.stop());

  for (const { name, chunks: single, pairs, page, go } of ways) {
    const orders = [
      ...single.map((one) => [one]),
      ...pairs.flatMap(([a, b]) => [
        [a, b],
        [b, a],
      ]),
    ];
    test(`${name}, with late chunks in ${orders.length} orders`, async () => {
      for (const held of orders) {
        count += 1;
        chunks.show(await page(stage, `order-${count}`), ...held);
        await tab.open(chunks.pageUrl);
        await tab.run(() => localStorage.clear());
        const payer = payerIn(tab);
        const going = go(payer);
        // Its failure is reported below, once the chunks have loaded.
        going.catch(() => undefined);
        for (const late of held) {
          await expect.poll(() => chunks.held(), { message: `${late} is asked for` }).toContain(late);
          await tab.run((ms) => new Promise((resolve) => setTimeout(resolve, ms)), lateMs);
          await chunks.release(late);
        }
        await going;
      }
    });
  }
}
