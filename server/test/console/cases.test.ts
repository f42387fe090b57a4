/** Staff's work on payments that need a person: notes, who takes care of one, and handled until more happens, on both engines. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sql } from 'kysely';
import { signIn, type TestBrowser } from '../support/browser.js';
import { commandContext, runWith } from '../support/command-context.js';
import { enginesOfQuick } from '../support/engines.js';
import { idsOf } from '../support/lists.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfQuick)('Work on payments, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let ada: TestBrowser;
  let ben: TestBrowser;
  let directory: string;
  const ids = { ada: '', ben: '' };
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'cases-'));
    const file = join(directory, 'data.key');
    await writeFile(file, randomBytes(32).toString('base64'), { mode: 0o600 });
    server = await startServer({ engine, env: { DATA_KEY_FILE: file } });
    merchant = openShop(server);
    ada = await signIn(server, 'manager', 'ada@shop.example');
    ben = await signIn(server, 'support', 'ben@shop.example');
    const idOf = async (browser: TestBrowser) =>
      ((await browser.send('GET', '/console/api/session')).body.data['person'] as { id: string }).id;
    ids.ada = await idOf(ada);
    ids.ben = await idOf(ben);
  });
  afterAll(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });

  const run = (line: string) =>
    runWith(commandContext(server), `${line} --merchant ${server.bootstrapped.merchantId}`);
  const path = (id: string) => `/console/api/cases/${id}`;
  const show = async (id: string) => (await ada.send('GET', path(id))).body.data;
  const post = (who: TestBrowser, id: string, verb: string, body: object) =>
    who.send('POST', `${path(id)}/${verb}`, { body });
  const assign = (who: TestBrowser, id: string, personId: string | null) =>
    who.send('PATCH', path(id), { body: { personId } });
  const waiting = async () => idsOf(await server.api('GET', '/v1/transactions?review=short'));
  const counted = async () =>
    (await merchant.ask<{ attention: { code: string; count: number }[] }>('GET', '/v1/home')).attention.find(
      ({ code }) => code === 'payments_short',
    )?.count ?? 0;
  const mine = async (who: TestBrowser) =>
    ((await who.send('GET', '/console/api/cases')).body.data as unknown as { paymentId: string }[]).map(
      ({ paymentId }) => paymentId,
    );

  /** A payment of 10 that got less, and is over. */
  async function short(amount: number): Promise<{ id: string; address: string }> {
    const locked = await merchant.lock();
    const { address } = locked;
    await merchant.pay(address, amount);
    await merchant.advance(86_400);
    await vi.waitFor(
      async () => {
        await merchant.mine(1);
        expect(await waiting()).toContain(locked.id);
      },
      { timeout: 20_000 },
    );
    return locked;
  }

  it('A payment is handled with a note, and needs a person again once more money comes', async () => {
    const { id, address } = await short(5);
    const other = await short(4);
    expect(await counted()).toBe(2);
    expect((await post(ben, id, 'handle', { note: '' })).status, 'without a note').toBe(400);
    const { status, body } = await post(ben, id, 'handle', { note: 'He comes to the shop with the rest' });
    expect([status, body.data]).toMatchObject([
      200,
      {
        isHandled: true,
        notes: [{ kind: 'handled', text: 'He comes to the shop with the rest', by: 'ben@shop.example' }],
      },
    ]);
    expect([await waiting(), await counted()]).toEqual([[other.id], 1]);
    await merchant.mine(5);
    await post(ada, id, 'notes', { text: 'He has paid in cash' });
    expect(await waiting(), 'blocks and notes change nothing').toEqual([other.id]);
    expect((await post(ada, id, 'handle', { note: 'Again' })).body.data['notes'], 'only once').toHaveLength(
      2,
    );

    await merchant.send(address, 1);
    await vi.waitFor(
      async () => {
        await merchant.mine(1);
        expect(await waiting()).toContain(id);
      },
      { timeout: 20_000 },
    );
    expect(await show(id)).toMatchObject({ isHandled: false });

    await post(ada, id, 'handle', { note: 'Refunded by hand' });
    expect(await waiting()).not.toContain(id);
    await post(ada, id, 'reopen', { note: 'It was another one' });
    expect(await waiting()).toContain(id);
    expect(((await show(id))['notes'] as { kind: string }[]).map(({ kind }) => kind)).toEqual([
      ...['handled', 'note', 'handled', 'reopened'],
    ]);
  });

  it('Somebody of the team takes care of a payment, until it is handled or they leave the team', async () => {
    const { id } = await short(3);
    expect((await assign(ada, id, ids.ben)).body.data).toMatchObject({
      assignee: { id: ids.ben, email: 'ben@shop.example' },
      notes: [{ kind: 'assigned', text: 'ben@shop.example', by: 'ada@shop.example' }],
    });
    expect([await mine(ben), await mine(ada)]).toEqual([[id], []]);
    expect((await assign(ada, id, 'nobody')).status).toBe(404);
    await assign(ben, id, null);
    expect(await mine(ben)).toEqual([]);
    await assign(ben, id, ids.ben);
    await post(ben, id, 'handle', { note: 'Done' });
    expect(await mine(ben)).toEqual([]);
    await post(ben, id, 'reopen', {});
    expect(await mine(ben)).toEqual([id]);

    await run('users remove ben@shop.example');
    expect(await show(id)).toMatchObject({ assignee: null });
    ben = await signIn(server, 'support', 'ben@shop.example');
  });

  it('Another shop reaches none of it, an accountant only reads, and each change is in the audit log without its text', async () => {
    const { id } = await short(2);
    const { id: foreign } = await server.database.write((transaction) =>
      server.app.merchants.create(transaction, { name: 'Another Shop' }),
    );
    const stranger = await signIn(server, 'owner', 'eve@other.example', foreign);
    for (const [method, end, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { personId: null }],
      ['POST', '/notes', { text: 'Mine' }],
      ['POST', '/handle', { note: 'Mine' }],
      ['POST', '/reopen', {}],
    ] as const) {
      const { status } = await stranger.send(method, path(id) + end, body && { body });
      expect([method, end, status]).toEqual([method, end, 404]);
    }
    const accountant = await signIn(server, 'accountant');
    expect((await accountant.send('GET', path(id))).status).toBe(200);
    expect((await post(accountant, id, 'handle', { note: 'No' })).body.data.code).toBe('role_not_allowed');

    const secret = 'Her name is Grace';
    await post(ada, id, 'notes', { text: secret });
    const entries = (await run('audit list')).json as { subjectId: string; action: string }[];
    const own = entries.filter(({ subjectId }) => subjectId === id);
    expect(own).toMatchObject([{ action: 'console.change', after: { call: 'cases.addNote' } }]);
    for (const name of ['payment_notes', 'audit_log']) {
      const { rows } = await sql`select * from ${sql.table(name)}`.execute(server.database.reader);
      expect(JSON.stringify(rows), name).not.toContain(secret);
    }
    expect(JSON.stringify(await show(id))).toContain(secret);
  });

  it('A reset of test data takes the notes with it', async () => {
    await run('sandbox reset --yes');
    for (const name of ['payment_notes', 'payment_cases']) {
      const { rows } = await sql`select * from ${sql.table(name)}`.execute(server.database.reader);
      expect(rows).toEqual([]);
    }
  });
});
