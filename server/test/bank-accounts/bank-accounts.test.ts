/** Bank accounts over real HTTP, on both engines: fields, filters, the primary account, archiving, banks and names. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasNubanCheckDigit } from '../../src/core/bank-accounts/nuban.js';
import { enginesOfTurn } from '../support/engines.js';
import { expectPages, idsOf, rowsOf } from '../support/lists.js';
import { startServer, type TestServer } from '../support/server.js';

const tenDigits = Array.from({ length: 10 }, (_, digit) => String(digit));

/** A made-up account number: a serial number, and the check digit for the bank's code. */
function numberAt(institution: string, serial: number): string {
  const digits = String(serial).padStart(9, '0');
  return digits + (tenDigits.find((digit) => hasNubanCheckDigit(digits + digit, institution)) ?? '');
}

const fields = {
  accountNumber: '0123456785',
  accountBank: '058',
  country: 'NG',
  currency: 'NGN',
  accountName: 'Ada Example',
};
const unknownId = 'ZZZZZZZZZZZZZZZZZZZZZZZZZZ';

describe.each(enginesOfTurn)('bank accounts, on $name', (engine) => {
  let server: TestServer;
  let foreign = '';
  let live = '';
  let serial = 1;

  beforeAll(async () => {
    server = await startServer({ engine });
    foreign = await server.foreignKey('secret', 'test');
    live = await server.foreignKey('secret', 'live');
  });
  afterAll(() => server.stop());

  const api = (method: string, path: string, key = server.secretKey, body?: unknown) =>
    server.api(method, `/v1/bank-accounts${path}`, { key, ...(body !== undefined && { body }) });
  const createAccount = (body: unknown, key?: string) => api('POST', '', key, body);
  const list = (query: string, key?: string) => api('GET', query, key);
  const makePrimary = (id: unknown, key?: string) => api('GET', `/primary/${String(id)}`, key);
  const archive = (id: unknown, key?: string) => api('DELETE', `/account/archive/${String(id)}`, key);
  const fresh = (institution = '058') => ({
    ...fields,
    accountBank: institution,
    accountNumber: numberAt(institution, serial++),
  });
  const added = async (key?: string, body: unknown = fresh()) =>
    (await createAccount(body, key)).body.data['id'];

  it('a bank account has the given fields and the name of its bank', async () => {
    const { status, body } = await createAccount(fields);
    expect([status, body.message]).toEqual([200, 'Bank account created']);
    const { id, createdAt, updatedAt, ...rest } = body.data;
    expect(rest).toEqual({ ...fields, mode: 'test', isPrimary: false, bankName: 'Guaranty Trust Bank' });
    expect(updatedAt).toBe(createdAt);
    expect((await api('GET', `/${String(id)}`)).body).toMatchObject({
      message: 'Bank account fetched',
      data: body.data,
    });
  });

  it('a new bank account may have names instead of codes, lower case, and separators in its number', async () => {
    const number = numberAt('033', 777);
    const { body } = await createAccount({
      ...fields,
      accountNumber: `${number.slice(0, 3)} ${number.slice(3, 6)}-${number.slice(6)}`,
      accountBank: 'united bank for africa',
      country: 'nigeria',
      currency: 'ngn',
    });
    expect(body.data).toMatchObject({
      accountNumber: number,
      accountBank: '033',
      bankName: 'United Bank for Africa',
      country: 'NG',
      currency: 'NGN',
    });
  });

  it.each([
    ['a missing number', { accountNumber: undefined }, 'validation_error', 'accountNumber'],
    ['a missing name', { accountName: '' }, 'validation_error', 'accountName'],
    ['a wrong check digit', { accountNumber: '0123456784' }, 'validation_error', 'accountNumber'],
    ['a number of another bank', { accountBank: '011' }, 'validation_error', 'accountNumber'],
    ['nine digits', { accountNumber: '012345678' }, 'validation_error', 'accountNumber'],
    ['letters', { accountNumber: '01234S6785' }, 'validation_error', 'accountNumber'],
    [
      'a wrong check digit of a microfinance bank',
      { accountNumber: '0000000000', accountBank: '50515' },
      'validation_error',
      'accountNumber',
    ],
    ['an unknown bank', { accountBank: '999' }, 'validation_error', 'accountBank'],
    ['a bank of another country', { country: 'GH' }, 'validation_error', 'accountBank'],
    ['an unknown country', { country: 'QQ' }, 'validation_error', 'country'],
    ['an unknown currency', { currency: 'XYZ' }, 'unsupported_currency', 'currency'],
    ['a coin', { currency: 'USDT' }, 'unsupported_currency', 'currency'],
    ['invalid characters', { country: 'US', accountNumber: '12*45' }, 'validation_error', 'accountNumber'],
  ])('a bank account with %s is refused', async (_, change, code, param) => {
    const { status, body } = await createAccount({ ...fields, ...change });
    expect([status, body.data.code, body.data.param]).toEqual([400, code, param]);
  });

  it('any number passes at a bank without check digits, and any bank in a country without a list of banks', async () => {
    const wallet = await createAccount({ ...fields, accountBank: 'OPay', accountNumber: '8000000001' });
    expect(wallet.body.data).toMatchObject({ accountNumber: '8000000001', accountBank: '999992' });
    const ghana = await createAccount({
      ...fields,
      country: 'GH',
      currency: 'GHS',
      accountBank: '040100',
      accountNumber: '1011010012345',
    });
    expect(ghana.body.data).toMatchObject({ accountBank: '040100', bankName: 'GCB Bank', country: 'GH' });
    const iban = await createAccount({
      ...fields,
      country: 'FR',
      currency: 'EUR',
      accountBank: 'Example Bank',
      accountNumber: 'fr76 3000 6000 0112 3456 7890 189',
    });
    expect(iban.body.data).toMatchObject({
      accountNumber: 'FR7630006000011234567890189',
      accountBank: 'Example Bank',
      bankName: 'Example Bank',
    });
  });

  it('bank accounts are unique by number, bank and currency, even if two are created at once', async () => {
    const body = fresh();
    await createAccount(body);
    const again = await createAccount({
      ...body,
      accountBank: 'guaranty trust bank',
      accountName: 'Another Name',
    });
    expect([again.status, again.body.data.code, again.body.data.param]).toEqual([
      409,
      'bank_account_exists',
      'accountNumber',
    ]);
    expect((await createAccount({ ...body, currency: 'USD' })).status).toBe(200);
    for (const key of [foreign, live]) expect((await createAccount(body, key)).status).toBe(200);
    const other = fresh();
    const both = await Promise.all([createAccount(other), createAccount(other)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('bank accounts are not found by other merchants or in the other mode', async () => {
    const id = await added();
    for (const key of [foreign, live]) {
      const { message } = (await api('GET', `/${unknownId}`, key)).body;
      const replies = [
        await api('GET', `/${String(id)}`, key),
        await makePrimary(id, key),
        await archive(id, key),
      ];
      for (const { status, body } of replies) {
        expect([status, body.data.code, body.message]).toEqual([404, 'not_found', message]);
      }
      expect(idsOf(await list('', key))).not.toContain(id);
    }
    expect((await api('GET', `/${String(id)}`)).body.data['isPrimary']).toBe(false);
  });

  it('a merchant has one primary account, the last one that was made primary', async () => {
    const key = await server.foreignKey('secret', 'test');
    const ids = [await added(key), await added(key), await added(key)];
    const primary = async () => idsOf(await list('?isPrimary=true', key));
    expect(await primary()).toEqual([]);
    const made = await makePrimary(ids[0], key);
    expect(made.body).toMatchObject({
      message: 'Bank account made primary',
      data: { id: ids[0], isPrimary: true },
    });
    expect(made.headers.get('cache-control')).toBe('no-store');
    expect((await makePrimary(ids[0], key)).body.data).toEqual(made.body.data);
    await makePrimary(ids[1], key);
    expect(await primary()).toEqual([ids[1]]);
    expect((await api('GET', `/${String(ids[0])}`, key)).body.data['isPrimary']).toBe(false);
    expect(idsOf(await list('?isPrimary=false', key)).sort()).toEqual([ids[0], ids[2]].sort());

    const rivals = await Promise.all(ids.map((id) => makePrimary(id, key)));
    expect(rivals.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await primary()).toHaveLength(1);
    expect((await makePrimary(unknownId, key)).status).toBe(404);
    expect(rowsOf(await list('?isPrimary=true', foreign))).toEqual([]);
  });

  it('an archived bank account is gone, and can be added again', async () => {
    const key = await server.foreignKey('secret', 'test');
    const body = fresh();
    const { data } = (await createAccount(body, key)).body;
    await makePrimary(data['id'], key);
    const archived = await archive(data['id'], key);
    expect(archived.body).toMatchObject({
      message: 'Bank account archived',
      data: { id: data['id'], ...body },
    });
    for (const gone of [
      await api('GET', `/${String(data['id'])}`, key),
      await makePrimary(data['id'], key),
      await archive(data['id'], key),
    ]) {
      expect([gone.status, gone.body.data.code]).toEqual([404, 'not_found']);
    }
    expect(rowsOf(await list('', key))).toEqual([]);
    const again = await createAccount(body, key);
    expect(again.body.data).toMatchObject({ ...body, isPrimary: false });
    expect(again.body.data['id']).not.toBe(data['id']);
    expect((await createAccount(body, key)).status).toBe(409);
    await archive(again.body.data['id'], key);
    expect((await createAccount(body, key)).status).toBe(200);
  });

  it('bank accounts are listed newest first, page by page, with every filter', async () => {
    const key = await server.foreignKey('secret', 'test');
    const bodies = [
      fresh('058'),
      { ...fresh('011'), currency: 'USD' },
      { ...fields, country: 'KE', currency: 'KES', accountBank: '68', accountNumber: '0110100012345' },
      fresh('058'),
    ];
    const ids: unknown[] = [];
    for (const body of bodies) {
      ids.unshift(await added(key, body));
      await server.api('POST', '/sandbox/clock', { body: { advanceSeconds: 1 } });
    }
    await expectPages((query) => list(query, key), ids);
    const [last, kenyan, dollars, first] = ids;
    expect(idsOf(await list('?country=NG', key))).toEqual([last, dollars, first]);
    expect(idsOf(await list('?country=ke', key))).toEqual([kenyan]);
    expect(idsOf(await list('?country=ZZ', key))).toEqual([]);
    expect(idsOf(await list('?currency=usd', key))).toEqual([dollars]);
    expect(idsOf(await list('?accountBank=058', key))).toEqual([last, first]);
    expect(idsOf(await list('?accountBank=Equity%20Bank%20Kenya', key))).toEqual([kenyan]);
    expect(
      idsOf(await list('?accountBank=058&country=NG&currency=NGN&isPrimary=false&skip=1&page=2', key)),
    ).toEqual([first]);
    expect((await list('?isPrimary=perhaps', key)).status).toBe(400);
  });

  it('the banks of a country are listed, and an unknown country is not found', async () => {
    const banks = rowsOf(await api('GET', '/banks/NG'));
    expect(banks).toContainEqual({
      code: '058',
      name: 'Guaranty Trust Bank',
      country: 'NG',
      currency: 'NGN',
    });
    expect(Object.keys(banks[0] ?? {}).sort()).toEqual(['code', 'country', 'currency', 'name']);
    expect(rowsOf(await api('GET', '/banks/gh'))).toContainEqual(expect.objectContaining({ code: '040100' }));
    expect((await api('GET', '/banks/FR')).body.data).toEqual([]);
    const unknown = await api('GET', '/banks/QQ');
    expect([unknown.status, unknown.body.data.code]).toEqual([404, 'not_found']);
  });

  it('an account has an example name in test mode, always the same one', async () => {
    const check = (accountNumber: string, accountBank: string) =>
      api('POST', '/account/name', undefined, { accountNumber, accountBank });
    const { status, body } = await check('0123456785', '058');
    expect(status).toBe(200);
    expect(body.message).toMatch(/example.*test mode/);
    expect(body.data).toEqual({
      accountNumber: '0123456785',
      accountBank: '058',
      accountName: expect.stringMatching(/^[A-Z][a-z]+ Example$/) as string,
    });
    expect((await check('0123456785', 'Guaranty Trust Bank')).body.data).toEqual(body.data);
    const names = await Promise.all(
      [...Array(12).keys()].map(
        async (n) => (await check(numberAt('058', n), '058')).body.data['accountName'],
      ),
    );
    expect(new Set(names).size).toBeGreaterThan(1);

    for (const [number, bank, param] of [
      ['0123456784', '058', 'accountNumber'],
      ['12345', '058', 'accountNumber'],
      ['0123456785', 'No Bank', 'accountBank'],
      ['', '058', 'accountNumber'],
    ] as const) {
      const { status: wrong, body: reply } = await check(number, bank);
      expect([wrong, reply.data.code, reply.data.param]).toEqual([400, 'validation_error', param]);
    }
  });

  it('account names are unavailable in live mode until a provider is configured', async () => {
    const { status, body, headers } = await api('POST', '/account/name', live, {
      accountNumber: '0123456785',
      accountBank: '058',
    });
    expect([status, body.data.code]).toEqual([503, 'service_unavailable']);
    expect(body.message).toContain('PAYSTACK_SECRET_KEY');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
