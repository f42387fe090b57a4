/** Bank payouts in the console: recorded, sent, failed, and none that somebody else pays, on both engines. */
import { mostBankPayouts } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signIn, type TestBrowser } from '../support/browser.js';
import { commandContext, runWith } from '../support/command-context.js';
import { enginesOfTurn } from '../support/engines.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

interface BankPayout {
  readonly id: string;
  readonly reference: string;
  readonly isOwn: boolean;
}

const path = '/console/api/bank-payouts';

describe.each(enginesOfTurn)('Bank payouts of people, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let ada: TestBrowser;
  let account: string;
  let real = Date.now();
  beforeAll(async () => {
    server = await startServer({ engine, overrides: { realNow: () => real } });
    merchant = openShop(server);
    ada = await signIn(server, 'manager', 'ada@shop.example');
    await merchant.fund({ amount: 300 });
    const body = {
      accountNumber: '0690000032',
      accountBank: '044',
      country: 'NG',
      currency: 'NGN',
      accountName: 'Ada Example',
    };
    account = (await merchant.ask<{ id: string }>('POST', '/v1/bank-accounts', { body })).id;
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  const run = (line: string) =>
    runWith(commandContext(server), `${line} --merchant ${server.bootstrapped.merchantId}`);
  const bodyOf = (amount: string, reference: string) => ({
    bankAccountId: account,
    amount,
    currency: 'usdt',
    reference,
  });
  const createPayout = (amount: string, reference: string, who = ada) =>
    who.send('POST', path, { body: bodyOf(amount, reference) });
  const made = async (amount: string, reference: string) => {
    const { status, body } = await createPayout(amount, reference);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data as unknown as BankPayout;
  };
  const end = (id: string, how: 'settle' | 'fail', body: object, who = ada) =>
    who.send('POST', `${path}/${id}/${how}`, { body });
  const list = async () =>
    (await ada.send('GET', path)).body.data as unknown as Record<'waiting' | 'ended', BankPayout[]>;
  const sums = async () =>
    (await ada.send('GET', `${path}/sums`)).body.data as unknown as { currency: string; amount: number }[];
  const audited = async (id: string) =>
    ((await run('audit list')).json as { subjectId: string; action: string; actor: string; after: object }[])
      // Calls that changed nothing leave a trace of their own.
      .filter(({ subjectId, action }) => subjectId === id && action !== 'console.change')
      .map(({ action, actor, after }) => ({ action, isAda: actor.includes('ada@shop.example'), after }));

  it('One takes its amount from the balance, waits with its account, and is sent with the bank’s number', async () => {
    const before = await merchant.balance();
    const payout = await made('25.5', 'Rent of May');
    expect(payout).toMatchObject({
      status: 'processing',
      amount: 25.5,
      currency: 'USDT',
      reference: 'Rent of May',
      isOwn: true,
      account: { accountName: 'Ada Example', accountNumber: '0690000032', country: 'NG', currency: 'NGN' },
    });
    expect((await merchant.balance()).availableBalance).toBeCloseTo(before.availableBalance - 25.5, 9);
    expect((await createPayout('25.5', 'Rent of May')).body.data, 'once').toEqual(payout);
    expect((await merchant.balance()).availableBalance).toBeCloseTo(before.availableBalance - 25.5, 9);
    expect((await list()).waiting).toEqual([payout]);

    const sent = await end(payout.id, 'settle', { bankReference: 'FT26001' });
    expect([sent.status, sent.body.data]).toMatchObject([
      200,
      { status: 'success', bankReference: 'FT26001' },
    ]);
    expect((await end(payout.id, 'settle', { bankReference: 'Another' })).body.data).toMatchObject({
      bankReference: 'FT26001',
    });
    expect((await end(payout.id, 'fail', { reason: 'Late' })).body.data.code).toBe('invalid_state');
    expect(await list()).toMatchObject({ waiting: [], ended: [{ id: payout.id, bankReference: 'FT26001' }] });
    expect(await audited(payout.id)).toEqual([
      {
        action: 'payout.created',
        isAda: true,
        after: expect.objectContaining({ currency: 'USDT' }) as object,
      },
      {
        action: 'payout.settled',
        isAda: true,
        after: { status: 'success', bankReference: 'FT26001' },
      },
    ]);
  });

  it('One that fails gives its amount back, once, and says why', async () => {
    const before = await merchant.balance();
    const { id } = await made('20', 'Rent of June');
    const failed = await end(id, 'fail', { reason: 'The account is closed' });
    expect(failed.body.data).toMatchObject({ status: 'failed', failureReason: 'The account is closed' });
    expect((await end(id, 'fail', { reason: 'Again' })).body.data).toEqual(failed.body.data);
    expect(await merchant.balance()).toEqual(before);
    expect((await audited(id)).map(({ action }) => action)).toEqual(['payout.created', 'payout.failed']);
  });

  it('The sums count each payout to a bank that has not failed, and no transfer', async () => {
    const sumOf = async () => (await sums()).find(({ currency }) => currency === 'USDT')?.amount ?? 0;
    const before = await sumOf();
    const [waiting, sent, failed] = [
      await made('3', 'Sum 1'),
      await made('4.5', 'Sum 2'),
      await made('7', 'Sum 3'),
    ];
    expect(await sumOf()).toBeCloseTo(before + 14.5, 9);
    await end(sent.id, 'settle', {});
    await end(failed.id, 'fail', { reason: 'Closed' });
    expect(await sumOf()).toBeCloseTo(before + 7.5, 9);
    await merchant.until((await merchant.withdraw()).id, 'success');
    expect(await sumOf()).toBeCloseTo(before + 7.5, 9);
    await end(waiting.id, 'fail', { reason: 'Closed' });
  });

  it('One from the command line is seen, and ended there: nobody returns to their own balance what was paid to them', async () => {
    const words = `payouts create --mode test --bank-account ${account} --amount 10 --currency USDT --reference`;
    const { id } = (await run(`${words} Operator1`)).json as { id: string };
    expect((await list()).waiting).toMatchObject([{ id, isOwn: false }]);
    const taken = await merchant.balance();
    expect((await createPayout('10', 'Operator1')).body.data).toMatchObject({ id, isOwn: false });
    for (const [how, body] of [
      ['settle', {}],
      ['fail', { reason: 'Mine again' }],
    ] as const) {
      const { status, body: answer } = await end(id, how, body);
      expect([how, status, answer.data.code]).toEqual([how, 409, 'invalid_state']);
    }
    expect(await merchant.balance()).toEqual(taken);
    await runWith(commandContext(server), `payouts settle ${id}`);
  });

  it('The payout of a transfer is ended with its transfer', async () => {
    const { id } = await merchant.withdraw();
    await merchant.until(id, 'success');
    // Others may be of the same millisecond, so the list's order does not say which it is.
    const all = await merchant.ask<{ id: string; transfer?: string }[]>('GET', '/v1/payouts?skip=100');
    const payout = all.find(({ transfer }) => transfer === id);
    const answer = await end(payout?.id ?? '', 'fail', { reason: 'Mine again' });
    expect([answer.status, answer.body.data.code]).toEqual([409, 'invalid_state']);
  });

  it('More than is available, a used reference and an unknown account are refused, and take nothing', async () => {
    const before = await merchant.balance();
    await made('1', 'Rent of July');
    for (const [body, code] of [
      [bodyOf('100000', 'Too much'), 'insufficient_balance'],
      [bodyOf('2', 'Rent of July'), 'invalid_state'],
      [{ ...bodyOf('1', 'Nobody'), bankAccountId: 'nobody' }, 'not_found'],
      [bodyOf('0', 'Nothing'), 'validation_error'],
    ] as const) {
      expect((await ada.send('POST', path, { body })).body.data.code).toBe(code);
    }
    expect((await merchant.balance()).availableBalance).toBeCloseTo(before.availableBalance - 1, 9);
  });

  it('No more that wait are listed than the contract says: the oldest first, and the next one follows as one ends', async () => {
    const { payouts } = server.app;
    const scope = { merchantId: server.bootstrapped.merchantId, mode: 'test' } as const;
    const waiting = async () => (await list()).waiting.map(({ id }) => id);
    const before = await waiting();
    // Requests for each of them would take seconds.
    const added = await server.database.write(async (transaction) => {
      const ids: string[] = [];
      while (before.length + ids.length < mostBankPayouts + 2) {
        real += 1;
        const request = bodyOf('0.1', `Many ${ids.length}`);
        ids.push((await payouts.createBankPayout(transaction, scope, request)).row.id);
      }
      return ids;
    });
    const all = [...before, ...added];
    expect(await waiting()).toEqual(all.slice(0, mostBankPayouts));
    const [ended = ''] = added;
    await server.database.write((transaction) => payouts.settle(transaction, ended));
    const left = all.filter((id) => id !== ended);
    expect(await waiting()).toEqual(left.slice(0, mostBankPayouts));
  });

  it('Another shop finds none, an accountant only reads, support sees none, and each change needs a fresh sign-in', async () => {
    const { id } = await made('1', 'Rent of August');
    const { id: foreign } = await server.database.write((transaction) =>
      server.app.merchants.create(transaction, { name: 'Another Shop' }),
    );
    const eve = await signIn(server, 'owner', 'eve@other.example', foreign);
    expect((await eve.send('GET', path)).body.data).toEqual({ waiting: [], ended: [] });
    expect((await eve.send('GET', `${path}/sums`)).body.data).toEqual([]);
    expect((await createPayout('1', 'Mine', eve)).body.data.code).toBe('not_found');
    for (const unknown of [id, 'ZZZZZZZZZZZZZZZZZZZZZZZZZZ']) {
      expect((await end(unknown, 'settle', {}, eve)).body.data.code).toBe('not_found');
      expect((await end(unknown, 'fail', { reason: 'Mine' }, eve)).body.data.code).toBe('not_found');
    }
    const accountant = await signIn(server, 'accountant');
    expect((await accountant.send('GET', path)).status).toBe(200);
    expect((await end(id, 'settle', {}, accountant)).body.data.code).toBe('role_not_allowed');
    const support = await signIn(server, 'support');
    expect((await support.send('GET', path)).body.data.code).toBe('role_not_allowed');
    real += 11 * 60_000;
    for (const answer of [
      await createPayout('1', 'Rent of September'),
      await end(id, 'settle', {}),
      await end(id, 'fail', { reason: 'Mine' }),
    ]) {
      expect(answer.body.data.code).toBe('step_up_required');
    }
  });
});
