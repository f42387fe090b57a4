/**
 * The settings that people change in the console: webhook, test keys and the shop; and the audit log that names them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, signIn, type TestBrowser } from '../support/browser.js';
import { sqlite } from '../support/engines.js';
import { idsOf } from '../support/lists.js';
import { startServer, type TestServer } from '../support/server.js';

describe('In the console', () => {
  let server: TestServer;
  let ada: TestBrowser;
  let accountant: TestBrowser;
  let real = Date.now();
  beforeAll(async () => {
    server = await startServer({ engine: sqlite, overrides: { realNow: () => real } });
    ada = await signIn(server, 'manager', 'ada@shop.example');
    accountant = await signIn(server, 'accountant');
  });
  afterAll(() => server.stop());

  const api = '/console/api';
  const live = { headers: { 'X-Checkout-Mode': 'live' } };
  async function actions(): Promise<string[]> {
    const { body } = await ada.send('GET', `${api}/audit-log`);
    const entries = body.data as unknown as { action: string; actor: string }[];
    return entries.filter(({ actor }) => actor.includes('ada@shop.example')).map(({ action }) => action);
  }

  it('each mode has its own webhook URL, and its secret is shown once', async () => {
    const none = await ada.send('GET', `${api}/webhook`);
    expect(none.body.data).toEqual({ mode: 'test', url: '', disabledAt: null });
    const url = 'https://shop.example/hooks?token=abc';
    const set = await ada.send('PATCH', `${api}/webhook`, { body: { url } });
    expect(set.body.data).toEqual({
      mode: 'test',
      url,
      disabledAt: null,
      secret: expect.stringMatching(/^whsec_/) as string,
    });
    const shown = await ada.send('GET', `${api}/webhook`);
    expect(shown.body.data).toEqual({ mode: 'test', url, disabledAt: null });
    expect((await ada.send('GET', `${api}/webhook`, live)).body.data).toMatchObject({ url: '' });
    const rotated = await ada.send('POST', `${api}/webhook/secret`, { body: {} });
    expect(rotated.body.data['secret']).not.toBe(set.body.data['secret']);
    const inLive = await ada.send('PATCH', `${api}/webhook`, {
      ...live,
      body: { url: 'http://shop.example' },
    });
    expect(inLive.body.data).toMatchObject({ code: 'validation_error', param: 'webhookUrl' });
    expect((await actions()).slice(0, 2)).toEqual(['webhook.secret_rotated', 'webhook.set']);
    const log = JSON.stringify((await ada.send('GET', `${api}/audit-log`)).body);
    expect(log).not.toMatch(/whsec_|token=abc/);
  });

  it('test keys can be made and any key revoked, and live secret keys come from the command line', async () => {
    const body = { kind: 'secret', scope: 'read', label: 'Bookkeeping' };
    const made = (await ada.send('POST', `${api}/keys`, { body })).body.data as { id: string; key: string };
    const listed = await ada.send('GET', `${api}/keys`);
    expect(listed.body.data).toContainEqual(
      expect.objectContaining({ id: made.id, scope: 'read', label: 'Bookkeeping', lastUsedAt: null }),
    );
    expect(JSON.stringify(listed.body)).not.toContain(made.key);
    const use = () => server.api('GET', '/v1/balances', { key: made.key });
    expect((await use()).status).toBe(200);
    const refused = await ada.send('POST', `${api}/keys`, { ...live, body });
    expect([refused.status, refused.body.data.code]).toEqual([409, 'invalid_state']);

    const { merchantId } = server.bootstrapped;
    const { id: liveKey } = await server.database.write((transaction) =>
      server.app.keys.create(transaction, { merchantId, kind: 'secret', mode: 'live' }),
    );
    expect(idsOf(await ada.send('GET', `${api}/keys`, live))).toEqual([liveKey]);
    // A key is revoked in its own mode, and nobody else's can be.
    expect((await ada.send('DELETE', `${api}/keys/${liveKey}`)).status).toBe(404);
    expect((await ada.send('DELETE', `${api}/keys/${liveKey}`, live)).status).toBe(200);
    const foreign = await server.foreignKey('secret', 'test');
    const theirs = (await server.app.keys.list()).find(({ key }) => key.endsWith(foreign.slice(-4)));
    expect((await ada.send('DELETE', `${api}/keys/${theirs?.id ?? ''}`)).status).toBe(404);
    expect((await ada.send('DELETE', `${api}/keys/${made.id}`)).status).toBe(200);
    expect((await use()).status).toBe(401);
    expect((await actions()).slice(0, 2)).toEqual(['key.revoked', 'key.created']);
  });

  it('the shop can be changed in the settings that payers see, and in none that lead money', async () => {
    const change = {
      businessName: 'Ada & Co',
      supportUrl: 'mailto:help@shop.example',
      redirectOrigins: ['https://shop.example'],
    };
    const changed = await ada.send('PATCH', `${api}/shop`, {
      body: { ...change, feeBasisPoints: 0, transfers: 'saved', dailyLimits: { USDT: '1' } },
    });
    expect(changed.body.data).toMatchObject({
      ...change,
      feeBasisPoints: 100,
      transfers: 'any',
      dailyLimits: {},
    });
    expect((await ada.send('GET', `${api}/shop`)).body.data).toEqual(changed.body.data);
    const zone = await ada.send('PATCH', `${api}/shop`, { body: { timeZone: 'asia/kolkata' } });
    expect(zone.body.data).toMatchObject({ ...change, timeZone: 'Asia/Kolkata' });
    const session = await accountant.send('GET', `${api}/session`);
    expect(session.body.data).toMatchObject({ merchant: { timeZone: 'Asia/Kolkata' } });
    const nowhere = await ada.send('PATCH', `${api}/shop`, { body: { timeZone: 'Mars/Olympus' } });
    expect(nowhere.body.data).toMatchObject({ code: 'validation_error', param: 'timeZone' });
    const logo = await ada.send('PATCH', `${api}/shop`, { body: { logo: 'javascript:alert(1)' } });
    expect(logo.body.data).toMatchObject({ param: 'logo' });
    expect((await actions())[0]).toBe('merchant.updated');
  });

  it('the audit log is searched by person and by action, and names nobody of another shop', async () => {
    const list = async (query: string) => {
      const { body } = await ada.send('GET', `${api}/audit-log?${query}`);
      return {
        rows: body.data as unknown as { person: { id: string; email: string } | null; action: string }[],
        total: (body.meta as { pagination: { total: number } } | undefined)?.pagination.total,
      };
    };
    const { rows } = await list('skip=100');
    const own = rows.filter(({ person }) => person?.email === 'ada@shop.example');
    const id = own[0]?.person?.id ?? '';
    expect(own.length).toBeGreaterThan(3);
    const byPerson = await list(`person=${id}&skip=100`);
    expect(byPerson).toEqual({ rows: own, total: own.length });
    const key = await list(`person=${id}&action=key.created`);
    expect(key.rows.map(({ action }) => action)).toEqual(['key.created']);
    // Keys that the server made at its start are nobody's.
    const byServer = (await list('action=key.created&skip=100')).rows.filter(({ person }) => person === null);
    expect(byServer.length).toBeGreaterThan(0);
    for (const query of [`person=${id.slice(0, -1)}`, 'person=%25', 'action=key', 'person=nobody'])
      expect(await list(query), query).toEqual({ rows: [], total: 0 });
    const { id: elsewhere } = await server.database.write((transaction) =>
      server.app.merchants.create(transaction, { name: 'Another Shop' }),
    );
    const stranger = await signIn(server, 'owner', 'eve@shop.example', elsewhere);
    const theirs = await stranger.send('GET', `${api}/audit-log?person=${id}`);
    expect(theirs.body.data).toEqual([]);
    expect((await ada.send('GET', `${api}/audit-log?person=`)).body.data.code).toBe('validation_error');
  });

  it('an accountant reads all that and changes nothing, and nobody gets it without a session', async () => {
    for (const path of ['webhook', 'keys', 'shop', 'audit-log']) {
      expect((await accountant.send('GET', `${api}/${path}`)).status, path).toBe(200);
      expect((await openBrowser(server.url).send('GET', `${api}/${path}`)).status, path).toBe(401);
      expect((await server.api('GET', `${api}/${path}`)).status, path).toBe(403);
    }
    const calls = [
      ['PATCH', 'webhook', { url: '' }],
      ['POST', 'webhook/secret', {}],
      ['POST', 'keys', { kind: 'secret' }],
      ['DELETE', 'keys/nobody', undefined],
      ['PATCH', 'shop', { logo: '' }],
    ] as const;
    for (const [method, path, body] of calls) {
      const options = body ? { body } : {};
      const answer = await accountant.send(method, `${api}/${path}`, options);
      expect(answer.body.data.code, path).toBe('role_not_allowed');
    }
    real += 11 * 60_000;
    for (const [method, path, body] of calls) {
      const answer = await ada.send(method, `${api}/${path}`, body ? { body } : {});
      expect(answer.body.data.code, path).toBe('step_up_required');
    }
  });
});
