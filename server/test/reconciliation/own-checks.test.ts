/** Comparisons with the chain that a shop's people ask for, of their own addresses only. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hex } from 'viem';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { signIn, type TestBrowser } from '../support/browser.js';
import { commandContext, runWith } from '../support/command-context.js';
import { enginesOfTurn } from '../support/engines.js';
import { startProviderProxy, type ProviderProxy } from '../support/provider-proxy.js';
import { openTreasury, type TreasuryFixture } from '../treasury/treasury-fixture.js';

interface Difference {
  readonly address: string;
  readonly outcome?: string;
  readonly state?: string;
}
interface Part {
  readonly checked: number;
  readonly next: number | null;
  readonly progress: number;
  readonly findings: Difference[];
}

const path = '/console/api/chain-checks';

describe.each(enginesOfTurn)('Comparing with the chain in the console, on $name', (engine) => {
  let anvil: Anvil;
  let proxies: readonly ProviderProxy[];
  let fixture: TreasuryFixture;
  let splitter: Hex;
  let ada: TestBrowser;
  beforeAll(async () => {
    anvil = await startAnvil();
    proxies = await Promise.all([startProviderProxy(anvil.url), startProviderProxy(anvil.url)]);
    splitter = await anvil.deploy('Splitter');
    fixture = await openTreasury(engine, { anvil, network: { nodes: proxies.map(({ url }) => url) } });
    await fixture.setTreasury();
    ada = await signIn(fixture.server, 'manager', 'ada@shop.example');
  });
  afterAll(async () => {
    await fixture.booksInOrder();
    await fixture.stop();
    for (const proxy of proxies) await proxy.close();
    await anvil.stop();
  });

  const payByContract = (address: string, amount: bigint) =>
    anvil.call('Splitter', splitter, 'pay', [[address as Hex]], amount);
  const get = (rest: string, who = ada) => who.send('GET', `${path}${rest}`);
  const book = (address: string, who = ada) =>
    who.send('POST', `${path}/evm-dev/book`, { body: { address } });
  const part = async (after = 0, who = ada) =>
    (await get(`/evm-dev?after=${after}`, who)).body.data as unknown as Part;

  it('A check agrees with the chain, finds dust without changing anything, and credits it when a person asks', async () => {
    const { id, address } = await fixture.pay('ETH');
    await fixture.watch();
    expect(await part()).toMatchObject({ next: null, progress: 1, findings: [] });
    expect((await part()).checked).toBeGreaterThan(0);
    await payByContract(address, 7n);
    await fixture.watch();
    const found = {
      network: 'evm-dev',
      address,
      currency: 'ETH',
      amount: '0.000000000000000007',
      paymentId: id,
      walletId: null,
    };
    // On a busy machine, the server's own job has noted it by now.
    const outcome = expect.stringMatching(/^(none|seen)$/) as string;
    for (let count = 0; count < 2; count += 1)
      expect((await part()).findings).toEqual([{ ...found, outcome }]);
    expect((await get('')).body.data).toMatchObject({ differences: [] });

    const booked = await book(address);
    expect([booked.status, booked.body.data]).toEqual([200, [{ ...found, outcome: 'seen' }]]);
    expect((await get('')).body.data['differences']).toMatchObject([{ ...found, state: 'seen' }]);
    await fixture.watch();
    expect((await book(address)).body.data).toMatchObject([{ address, outcome: 'credited' }]);
    expect((await get('')).body.data['differences']).toEqual([]);
    expect((await part()).findings).toEqual([]);
    const { json } = await runWith(
      commandContext(fixture.server),
      `audit list --merchant ${fixture.merchantId}`,
    );
    expect(json).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          action: 'balance.reconciled',
          subjectId: address,
          actor: expect.stringMatching(/^ada@shop\.example, manager /) as string,
        }),
      ]),
    );
  });

  it('Booking an address credits it, however many older differences wait', async () => {
    const { address } = await fixture.pay('ETH');
    await fixture.watch();
    await payByContract(address, 8n);
    await fixture.watch();
    expect((await book(address)).body.data).toMatchObject([{ outcome: 'seen' }]);
    const { database } = fixture.server;
    const seen = await database.reader
      .selectFrom('balance_differences')
      .selectAll()
      .where('address', '=', address)
      .executeTakeFirstOrThrow();
    const others = Array.from({ length: 100 }, (_, number) => ({
      ...seen,
      address: `0x${String(number).padStart(40, '0')}`,
      state: 'dust' as const,
      height: 0,
    }));
    await database.write((transaction) =>
      transaction.insertInto('balance_differences').values(others).execute(),
    );
    await fixture.watch();
    expect((await book(address)).body.data).toMatchObject([{ address, outcome: 'credited' }]);
    const inserted = others.map((one) => one.address);
    await database.write((transaction) =>
      transaction.deleteFrom('balance_differences').where('address', 'in', inserted).execute(),
    );
  });

  it('A part after the last address checks nothing, and a negative position is refused', async () => {
    const { next, checked } = await part(1_000_000);
    expect([next, checked]).toEqual([null, 0]);
    expect((await get('/evm-dev?after=-1')).status).toBe(400);
  });

  it('A check reports that no node answers, and works again once one does', async () => {
    for (const proxy of proxies)
      proxy.change = ({ method }) => (method === 'eth_call' ? new Error('out of order') : undefined);
    const { status, body } = await get('/evm-dev');
    expect([status, body.data.code]).toEqual([503, 'chain_unavailable']);
    for (const proxy of proxies) proxy.change = undefined;
    await expect.poll(async () => (await get('/evm-dev')).status, { timeout: 20_000 }).toBe(200);
  });

  it('Another shop sees no address of this one, unknown networks are not found, and only some roles credit', async () => {
    const { address } = await fixture.pay('ETH');
    await fixture.watch();
    await payByContract(address, 9n);
    await fixture.watch();
    expect((await book(address)).body.data).toMatchObject([{ outcome: 'seen' }]);
    const { server } = fixture;
    const { id: foreign } = await server.database.write((transaction) =>
      server.app.merchants.create(transaction, { name: 'Another Shop' }),
    );
    const eve = await signIn(server, 'owner', 'eve@other.example', foreign);
    expect(await part(0, eve)).toMatchObject({ checked: 0, findings: [] });
    expect((await get('', eve)).body.data).toMatchObject({ differences: [] });
    for (const unknown of [address, '0x0000000000000000000000000000000000000001'])
      expect((await book(unknown, eve)).body.data.code).toBe('not_found');
    expect((await get('/nothing')).body.data.code).toBe('not_found');
    const accountant = await signIn(server, 'accountant');
    expect((await part(0, accountant)).findings).toHaveLength(1);
    expect((await book(address, accountant)).body.data.code).toBe('role_not_allowed');
    const support = await signIn(server, 'support');
    expect((await get('', support)).body.data.code).toBe('role_not_allowed');
    await fixture.watch();
    await book(address);
  });
});
