/** Refunds in live mode, on a real Litecoin Core: left to the merchant, within limits, at today's value, and paid. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bech32 } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shippedRatesFile } from '../../src/core/money/fixed-rates.js';
import type { ShownPsbt } from '../psbt-payouts/fixture.js';
import { claimTokenOf, openClaimBrowser } from '../support/claim-browser.js';
import { commandContext, runWith } from '../support/command-context.js';
import { enginesOfSoak } from '../support/engines.js';
import { hasLitecoind, litecoinRegtest, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop, type RefundRecord, type Shop } from '../support/shop.js';
import { signWith } from '../support/sign-psbt.js';
import { psbtPayouts } from '../../src/modules/psbt-payouts/module.js';
import { expectBooksInOrder } from '../support/violations.js';

/** The same output, as another of Litecoin's networks writes its address. */
const written = (address: string, prefix: 'ltc' | 'rltc') =>
  bech32.encode(prefix, bech32.decode(address as `${string}1${string}`).words);
const { signal } = new AbortController();

describe.skipIf(!hasLitecoind).each(enginesOfSoak)('A live refund, on $name', (engine) => {
  let node: LitecoinNode;
  let server: TestServer;
  let directory: string;
  let key: string;
  let shop: Shop;
  let merchantId: string;
  const account = HDKey.fromMasterSeed(randomBytes(32)).derive("m/84'/2'/0'");
  /** The price of a litecoin, in dollars, and how long ago it was asked for. */
  const price = { dollars: 100n, ageMs: 0 };
  beforeAll(async () => {
    node = await startLitecoin();
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
    const file = join(directory, 'networks.json');
    const litecoin = { nodes: [node.url], genesisHash: litecoinRegtest.genesisHash, confirmations: 2 };
    await writeFile(file, JSON.stringify({ networks: { litecoin } }));
    server = await startServer({
      engine,
      env: { NETWORKS_FILE: file, RATES_FILE: shippedRatesFile },
      overrides: {
        rates: {
          latest: (currency) => ({
            numerator: currency === 'LTC' ? price.dollars : 1n,
            denominator: 1n,
            source: 'test',
            at: Date.now() - price.ageMs,
          }),
        },
      },
    });
    ({ merchantId } = server.bootstrapped);
    const scope = { merchantId, mode: 'live' } as const;
    ({ key } = await server.database.write(async (transaction) => {
      await server.app.depositKeys.set(transaction, scope, 'litecoin', {
        extendedPublicKey: account.publicExtendedKey,
        script: 'p2wpkh',
      });
      return server.app.keys.create(transaction, { ...scope, kind: 'secret' });
    }));
    shop = openShop(server, key);
    await server.app.depositKeys.refresh();
    await scan();
  });
  afterAll(async () => {
    await server.stop();
    await node.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const scan = () => server.app.scanner.scanNow({ mode: 'live', network: 'litecoin' });
  const command = async (line: string) => (await runWith(commandContext(server), line)).json;
  const update = (words: string) => command(`merchants update ${merchantId} ${words}`);
  const refuse = async (path: string, body: object) => {
    const { status, body: reply } = await server.api('POST', path, { key, body });
    return [status, reply.data.code];
  };

  /** A payment of 20 dollars that got this many litecoins more than its price. */
  async function overpay(extra: number): Promise<string> {
    const { id, address, amount } = await shop.lock({ amount: 20, currency: 'LTC', network: 'litecoin' });
    await node.pay(written(address, 'rltc'), (amount + extra).toFixed(8));
    await node.mine(2);
    await scan();
    return id;
  }
  /** Gives an address of the node's wallet on the claim page, and reads what becomes of it. */
  async function claim(refund: RefundRecord): Promise<unknown> {
    const address = written(await node.rpc<string>('getnewaddress', '', 'bech32'), 'ltc');
    return (await openClaimBrowser(server).claim(claimTokenOf(refund), address)).body.data['status'];
  }
  async function arrived({ address }: RefundRecord): Promise<number> {
    return node.rpc<number>('getreceivedbyaddress', written(address ?? '', 'rltc'), 2);
  }

  it('A live refund waits for the shop, keeps to its limits, is at today’s value if asked, and is paid', async () => {
    // On Litecoin, nobody can prove by a signature who paid: nothing is approved without the shop.
    await update('--auto-refund USD=20 --daily-refunds LTC=0.25');
    const small = await shop.refund(await overpay(0.1), { kind: 'excess' });
    expect(small).toMatchObject({ mode: 'live', amount: 0.1, feeKept: 0 });
    expect(await claim(small)).toBe('awaiting_approval');
    await shop.ask('POST', `/v1/refunds/${small.id}/approve`, { body: {} });
    const large = await shop.refund(await overpay(0.3), { kind: 'excess' });
    expect(await claim(large)).toBe('awaiting_approval');
    // A refund above the rest of the day's limit waits, and the shop itself cannot pass the limit.
    expect(await refuse(`/v1/refunds/${large.id}/approve`, {})).toEqual([400, 'validation_error']);
    expect((await shop.retrieveRefund(large.id)).status).toBe('awaiting_approval');
    await update('--daily-refunds LTC=none');
    await shop.ask('POST', `/v1/refunds/${large.id}/approve`, { body: {} });

    // A litecoin costs twice as much as when it came: half of them are as much money.
    const paymentId = await overpay(0);
    price.dollars = 200n;
    const today = await shop.refund(paymentId, { kind: 'full', by: 'today', refundFee: true });
    expect(today).toMatchObject({
      amount: 0.1,
      value: { by: 'today', rate: 200, baseAmount: 20, baseCurrency: 'USD' },
    });
    expect(Math.abs(Date.parse(today.value.rateAt) - Date.now())).toBeLessThan(60_000);
    await shop.ask('POST', `/v1/refunds/${today.id}/cancel`);
    price.dollars = 50n;
    const cheap = await shop.refund(paymentId, { kind: 'full', by: 'today', refundFee: true });
    expect(cheap, 'never more coins than came').toMatchObject({ amount: 0.2, value: { baseAmount: 10 } });
    await shop.ask('POST', `/v1/refunds/${cheap.id}/cancel`);
    price.ageMs = 120_000;
    expect(await refuse(`/v1/payments/${paymentId}/refunds`, { kind: 'full', by: 'today' })).toEqual([
      ...[503, 'rate_unavailable'],
    ]);
    Object.assign(price, { dollars: 200n, ageMs: 0 });
    const last = await shop.refund(paymentId, { kind: 'full', by: 'today', refundFee: true });
    expect(await claim(last), 'a full refund is never automatic').toBe('awaiting_approval');
    await shop.ask('POST', `/v1/refunds/${last.id}/approve`, { body: {} });
    price.dollars = 400n;

    const { psbt, transfers } = (await command(
      `transfers psbt export --mode live --merchant ${merchantId} --network litecoin --fee-rate 2`,
    )) as ShownPsbt;
    expect(transfers).toHaveLength(3);
    const signed = join(directory, 'signed');
    await writeFile(signed, signWith(account, psbt));
    await command(`transfers psbt import ${signed}`);
    await node.mine(2);
    await scan();
    for (const [refund, amount] of [
      [small, 0.1],
      [large, 0.3],
      [last, 0.1],
    ] as const) {
      // A look that a busy node answered too late is repeated by the server at its next pass, and so here.
      const shown = async () => {
        await psbtPayouts.rules(server.app).follow(signal);
        return shop.retrieveRefund(refund.id);
      };
      await expect
        .poll(shown, { timeout: 20_000 })
        .toMatchObject({ status: 'paid', amount, value: refund.value });
      const paid = await shop.retrieveRefund(refund.id);
      expect(await arrived(paid)).toBe(amount);
    }
    await expectBooksInOrder(server.database);
  });
});
