/** Wallet addresses over real HTTP, on both engines: checksums, networks, duplicates, and primary addresses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { expectPages, idsOf, rowsOf } from '../support/lists.js';
import { startServer, type TestServer } from '../support/server.js';

const tron = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
/** The examples of EIP-55 and BIP-173. */
const evm = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const otherEvm = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
const bitcoin = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const unknownId = 'ZZZZZZZZZZZZZZZZZZZZZZZZZZ';

describe.each(enginesOfTurn)('wallet addresses, on $name', (engine) => {
  let server: TestServer;
  let foreign = '';

  beforeAll(async () => {
    server = await startServer({ engine });
    foreign = await server.foreignKey('secret', 'test');
  });
  afterAll(() => server.stop());

  const api = (method: string, path: string, key = server.secretKey, body?: unknown) =>
    server.api(method, `/v1/wallet-addresses${path}`, { key, ...(body !== undefined && { body }) });
  const saveAddress = (body: unknown, key?: string) => api('POST', '', key, body);
  const list = (query: string, key?: string) => api('GET', query, key);
  const makePrimary = (id: unknown, key?: string) => api('GET', `/primary/${String(id)}`, key);
  const newMerchant = () => server.foreignKey('secret', 'test');

  it('wallet addresses have the given fields', async () => {
    const { status, body } = await saveAddress({
      address: tron,
      currency: 'usdt',
      network: 'TRON',
      isPrimary: 'true',
      label: 'Treasury',
    });
    expect([status, body.message]).toEqual([200, 'Wallet address created']);
    const { id, createdAt, ...fields } = body.data;
    expect(fields).toEqual({
      mode: 'test',
      address: tron,
      currency: 'USDT',
      network: 'tron',
      isPrimary: true,
      label: 'Treasury',
    });
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await api('GET', `/${String(id)}`)).body).toMatchObject({
      message: 'Wallet address fetched',
      data: body.data,
    });
    expect((await api('GET', `/${unknownId}`)).status).toBe(404);
  });

  it('wallet addresses can have no network, and are then for any network of the currency', async () => {
    const key = await newMerchant();
    for (const [address, currency] of [
      [evm, 'USDT'],
      [tron, 'USDT'],
      [evm, 'ETH'],
      [bitcoin, 'BTC'],
    ]) {
      const { body } = await saveAddress({ address, currency }, key);
      expect(body.data).toMatchObject({ address, currency, network: '', isPrimary: false });
      expect(body.data).not.toHaveProperty('label');
    }
  });

  it('wallet addresses are stored in their canonical form', async () => {
    const key = await newMerchant();
    const saved = [
      await saveAddress({ address: evm.toLowerCase(), currency: 'ETH', network: 'base' }, key),
      await saveAddress({ address: ` ${bitcoin.toUpperCase()} `, currency: 'BTC', network: 'bitcoin' }, key),
    ];
    expect(saved.map(({ body }) => body.data['address'])).toEqual([evm, bitcoin]);
  });

  it.each([
    [{ currency: 'BTC' }, 'validation_error', 'address'],
    [{ address: tron }, 'validation_error', 'currency'],
    [{ address: tron, currency: 'USDT', isPrimary: 'perhaps' }, 'validation_error', 'isPrimary'],
    [{ address: tron, currency: 'USDT', label: 'a'.repeat(101) }, 'validation_error', 'label'],
    [{ address: tron, currency: 'DOGE' }, 'unsupported_currency', 'currency'],
    [{ address: tron, currency: 'NGN' }, 'unsupported_currency', 'currency'],
    [{ address: tron, currency: 'USDT', network: 'bitcoin' }, 'unsupported_currency', 'network'],
    [{ address: tron, currency: 'USDT', network: 'nowhere' }, 'unsupported_currency', 'network'],
    [{ address: `${tron.slice(0, -1)}9`, currency: 'USDT', network: 'tron' }, 'invalid_address', 'address'],
    [{ address: evm.replace('aA', 'AA'), currency: 'ETH' }, 'invalid_address', 'address'],
    [{ address: tron, currency: 'USDT', network: 'ethereum' }, 'invalid_address', 'address'],
    [{ address: evm, currency: 'USDT', network: 'tron' }, 'invalid_address', 'address'],
    [{ address: bitcoin, currency: 'USDT' }, 'invalid_address', 'address'],
    // The same bytes as a mainnet address.
    [
      { address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', currency: 'BTC' },
      'invalid_address',
      'address',
    ],
  ])('wallet addresses are refused with %j', async (body, code, param) => {
    const { status, body: reply } = await saveAddress(body, foreign);
    expect([status, reply.data.code, reply.data.param]).toEqual([400, code, param]);
  });

  it.each([
    ['ETH', evm.replace('aA', 'AA'), true],
    ['USDT', `${tron.slice(0, -1)}9`, true],
    ['BTC', `${bitcoin.slice(0, -1)}q`, true],
    ['BTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', false],
    ['ETH', tron, false],
    ['BTC', 'somewhere', false],
  ])('in %s, %s is refused for its checksum: %s', async (currency, address, isChecksum) => {
    const { body } = await saveAddress({ currency, address }, foreign);
    expect(body.message.includes('checksum')).toBe(isChecksum);
  });

  it('wallet addresses are unique by address, currency and network, even if two are created at once', async () => {
    const key = await newMerchant();
    const body = { address: evm, currency: 'USDC', network: 'base' };
    expect((await saveAddress(body, key)).status).toBe(200);
    const again = await saveAddress({ ...body, address: evm.toLowerCase(), label: 'Again' }, key);
    expect([again.status, again.body.data.code, again.body.data.param]).toEqual([
      409,
      'address_exists',
      'address',
    ]);
    for (const change of [{ network: 'ethereum' }, { network: '' }, { currency: 'ETH' }]) {
      expect((await saveAddress({ ...body, ...change }, key)).status).toBe(200);
    }
    expect((await saveAddress(body, await newMerchant())).status).toBe(200);
    const other = { ...body, address: otherEvm, isPrimary: true };
    const both = await Promise.all([saveAddress(other, key), saveAddress(other, key)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('wallet addresses are not found by other merchants or in the other mode', async () => {
    const { body } = await saveAddress({ address: otherEvm, currency: 'ETH', network: 'ethereum' });
    const { id } = body.data;
    for (const key of [foreign, await server.foreignKey('secret', 'live')]) {
      const { message } = (await api('GET', `/${unknownId}`, key)).body;
      for (const { status, body: reply } of [
        await api('GET', `/${String(id)}`, key),
        await makePrimary(id, key),
      ]) {
        expect([status, reply.data.code, reply.message]).toEqual([404, 'not_found', message]);
      }
      expect(idsOf(await list('', key))).not.toContain(id);
    }
  });

  it('wallet addresses are refused in live mode while it has no networks', async () => {
    const live = await server.foreignKey('secret', 'live');
    const { status, body } = await saveAddress({ address: tron, currency: 'USDT', network: 'tron' }, live);
    expect([status, body.data.code]).toEqual([400, 'unsupported_currency']);
  });

  it('one wallet address per currency and network is primary, the last one that was made primary', async () => {
    const key = await newMerchant();
    const saved = async (address: string, network: string, isPrimary = false, currency = 'USDT') =>
      (await saveAddress({ address, currency, network, isPrimary }, key)).body.data['id'];
    const first = await saved(evm, 'bsc', true);
    const second = await saved(otherEvm, 'bsc', true);
    const onPolygon = await saved(evm, 'polygon', true);
    const anywhere = await saved(evm, '', true);
    const dollars = await saved(evm, 'bsc', false, 'USDC');
    const primary = async () => idsOf(await list('?isPrimary=true', key)).sort();
    expect(await primary()).toEqual([second, onPolygon, anywhere].sort());

    const made = await makePrimary(first, key);
    expect(made.body).toMatchObject({
      message: 'Wallet address made primary',
      data: { id: first, isPrimary: true },
    });
    expect(made.headers.get('cache-control')).toBe('no-store');
    expect((await makePrimary(first, key)).body.data).toEqual(made.body.data);
    expect(await primary()).toEqual([first, onPolygon, anywhere].sort());
    expect(idsOf(await list('?isPrimary=false', key)).sort()).toEqual([second, dollars].sort());
    expect((await makePrimary(unknownId, key)).status).toBe(404);

    const rivals = await Promise.all([first, second].map((id) => makePrimary(id, key)));
    expect(rivals.map(({ status }) => status)).toEqual([200, 200]);
    expect(rowsOf(await list('?isPrimary=true&network=bsc', key))).toHaveLength(1);
  });

  it('wallet addresses are listed newest first, page by page, with every filter', async () => {
    const key = await newMerchant();
    const bodies = [
      { address: tron, currency: 'USDT', network: 'tron', label: 'Treasury' },
      { address: evm, currency: 'USDT', network: 'bsc', label: 'Cold' },
      { address: evm, currency: 'ETH', network: '' },
      { address: otherEvm, currency: 'USDT', network: 'bsc', label: 'Treasury' },
    ];
    const ids: unknown[] = [];
    for (const body of bodies) {
      ids.unshift((await saveAddress(body, key)).body.data['id']);
      await server.api('POST', '/sandbox/clock', { body: { advanceSeconds: 1 } });
    }
    await expectPages((query) => list(query, key), ids);
    const [other, ether, cold, treasury] = ids;
    expect(idsOf(await list('?network=BSC', key))).toEqual([other, cold]);
    expect(idsOf(await list('?network=', key))).toEqual([ether]);
    expect(idsOf(await list('?currency=usdt', key))).toEqual([other, cold, treasury]);
    expect(idsOf(await list(`?address=${evm}`, key))).toEqual([ether, cold]);
    expect(idsOf(await list(`?address=${evm.toLowerCase()}`, key))).toEqual([ether, cold]);
    expect(idsOf(await list('?address=0x5aA', key))).toEqual([]);
    expect(idsOf(await list('?label=Treasury', key))).toEqual([other, treasury]);
    expect(idsOf(await list('?label=treasury', key))).toEqual([]);
    expect(idsOf(await list('?label=Treasury&network=tron&isPrimary=false', key))).toEqual([treasury]);
    expect((await list('?isPrimary=perhaps', key)).status).toBe(400);
  });

  it('wallet addresses are found for a transfer by id or address; one for its network takes precedence', async () => {
    const { walletAddresses, keys } = server.app;
    const key = await newMerchant();
    const scope = { merchantId: (await keys.authenticate(key))?.merchantId ?? '', mode: 'test' } as const;
    const { reader } = server.database;
    const any = (await saveAddress({ address: evm, currency: 'USDC' }, key)).body.data['id'];
    const to = { address: evm, currency: 'USDC', network: 'base' };
    expect(await walletAddresses.findByAddress(reader, scope, to)).toMatchObject({
      ...to,
      network: '',
      id: any,
    });
    const onBase = String((await saveAddress(to, key)).body.data['id']);
    expect(await walletAddresses.findByAddress(reader, scope, to)).toMatchObject({ ...to, id: onBase });
    expect(await walletAddresses.find(reader, scope, onBase)).toMatchObject({ ...to, id: onBase });
    expect(await walletAddresses.find(reader, { ...scope, mode: 'live' }, onBase)).toBeUndefined();
    expect(await walletAddresses.findByAddress(reader, scope, { ...to, currency: 'ETH' })).toBeUndefined();
  });
});
