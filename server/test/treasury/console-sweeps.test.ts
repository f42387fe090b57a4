/** Sweeps in the console: the addresses that they show to whom, and the kept answers of wallets. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { safeChecksum } from '../../src/modules/treasury/safe-batch.js';
import { signIn, type TestBrowser } from '../support/browser.js';
import { enginesOfTurn } from '../support/engines.js';
import { transact } from '../support/forwarders.js';
import { openTreasury, treasury, type TreasuryFixture } from './treasury-fixture.js';

const path = '/console/api/sweeps';
const network = 'evm-dev';

interface Plan {
  readonly cost: string;
  readonly groups: readonly object[];
  readonly transactions: readonly { readonly to: string; readonly data: string }[];
  readonly safe: { readonly transactions: unknown; readonly meta: { checksum: string } };
}
interface Listed {
  readonly networks: readonly object[];
  readonly sent: readonly { readonly answer: string }[];
}

describe.each(enginesOfTurn)('sweeps in the console, on $name', (engine) => {
  let fixture: TreasuryFixture;
  let ada: TestBrowser;
  /** Of another merchant, with the same treasury. */
  let eve: TestBrowser;

  beforeAll(async () => {
    fixture = await openTreasury(engine);
    await fixture.setTreasury();
    await fixture.pay('USDT');
    ada = await signIn(fixture.server, 'manager', 'ada@shop.example');
    const { id } = await fixture.command<{ id: string }>('merchants create --name Elsewhere');
    eve = await signIn(fixture.server, 'owner', 'eve@elsewhere.example', id);
  });
  afterAll(() => fixture.stop());

  const ask = (browser: TestBrowser, where: string, body: object, options = {}) =>
    browser.send('POST', `${path}${where}`, { body, ...options });
  const plan = async (browser = ada) =>
    (await ask(browser, '/plan', { network })).body.data as unknown as Plan & { code?: string };
  const list = async (browser = ada) => (await browser.send('GET', path)).body.data as unknown as Listed;

  it('a plan has what the command exports, and a file for Safe', async () => {
    const { chainId } = (await list()).networks[0] as { chainId: number };
    const planned = await plan();
    expect(planned).toMatchObject({ network, chainId, coin: 'ETH', baseCurrency: 'USD' });
    expect(planned.groups).toMatchObject([{ treasury, currency: 'USDT', addresses: 1, skipped: null }]);
    const [{ cost }] = planned.groups as [{ cost: string }];
    expect(planned.cost).toBe(cost);
    const byCommand = await fixture.command<Plan>(`sweeps export --network ${network} --format json`);
    expect(planned.transactions).toMatchObject(byCommand.transactions.map(({ to, data }) => ({ to, data })));
    expect(planned.transactions).toHaveLength(1);
    const { checksum, ...meta } = planned.safe.meta;
    expect(checksum).toBe(safeChecksum({ ...planned.safe, meta }));
  });

  it("another shop sees nothing of a sweep, not even with the same treasury, nor does the shop's live mode", async () => {
    expect(await list(eve)).toEqual({ networks: [], sent: [] });
    expect((await plan(eve)).code).toBe('validation_error');
    const owner = (await fixture.server.app.merchants.list(fixture.server.database.reader)).at(-1);
    await fixture.server.database.write((transaction) =>
      fixture.server.app.depositKeys.set(
        transaction,
        { merchantId: owner?.id ?? '', mode: 'test' },
        'evm',
        { treasury },
        true,
      ),
    );
    await fixture.server.app.depositKeys.refresh();
    expect((await list(eve)).networks).toHaveLength(1);
    expect(await plan(eve)).toMatchObject({ groups: [], transactions: [] });
    const live = { headers: { 'X-Checkout-Mode': 'live' } };
    expect((await ask(ada, '/plan', { network }, live)).body.data).toMatchObject({
      code: 'validation_error',
    });
  });

  it("a wallet's answer is kept with the person, and is under way until the books have it", async () => {
    const [sweep] = (await plan()).transactions;
    const { transactionHash } = await transact(fixture.anvil, sweep?.to ?? '', sweep?.data ?? '');
    const upper = `0x${transactionHash.slice(2).toUpperCase()}`;
    expect((await ask(ada, '/answers', { network, answer: upper })).status).toBe(200);
    const kept = { network, answer: transactionHash, sentBy: 'ada@shop.example' };
    expect((await list()).sent).toMatchObject([{ ...kept, isBooked: false }]);
    await fixture.watch();
    expect((await list()).sent).toMatchObject([{ ...kept, isBooked: true }]);
    expect((await list(eve)).sent).toEqual([]);
    expect((await plan()).transactions).toEqual([]);
    await fixture.booksInOrder();
    const other = await ask(ada, '/answers', { network: 'polygon', answer: transactionHash });
    expect(other.body.data).toMatchObject({ code: 'validation_error' });
  });

  it('a batch is listed by its id until the wallet reports its transactions, and then by each of them', async () => {
    const answersOf = async () => (await list()).sent.map(({ answer }) => answer);
    const before = await answersOf();
    const hashes = ['a', 'b'].map((digit) => `0x${digit.repeat(64)}`);
    await ask(ada, '/answers', { network, answer: 'batch-1' });
    expect(await answersOf()).toEqual(['batch-1', ...before]);
    // Two tabs get the same answer.
    for (let tab = 0; tab < 2; tab += 1) await ask(ada, '/answers', { network, answer: 'batch-1', hashes });
    expect(await answersOf()).toEqual([...hashes.toReversed(), ...before]);
    const [own] = hashes;
    await ask(ada, '/answers', { network, answer: own });
    await ask(ada, '/answers', { network, answer: own, hashes: [own] });
    expect((await answersOf()).filter((one) => one === own)).toHaveLength(1);
  });

  it('a batch that the wallet did not send is no longer listed', async () => {
    const { sent } = await list();
    await ask(ada, '/answers', { network, answer: 'batch-2' });
    expect((await list()).sent).toHaveLength(sent.length + 1);
    await ask(ada, '/answers', { network, answer: 'batch-2', hashes: [] });
    expect((await list()).sent).toEqual(sent);
  });
});
