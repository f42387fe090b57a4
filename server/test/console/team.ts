/**
 * The members of a team, and the rules that keep a shop from losing its last owner: in the console and on the command
 * line.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleModule } from '../../src/modules/console/module.js';
import { runCommandLine } from '../support/command-line.js';
import { openBrowser, signIn, type TestBrowser } from '../support/browser.js';
import type { TestEngine } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

type Json = Readonly<Record<string, unknown>>;

interface Member {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly sessions: number;
}

export const testTeam = (engine: TestEngine): unknown =>
  describe(`On ${engine.name}`, () => {
    let server: TestServer;
    let owner: TestBrowser;
    beforeAll(async () => {
      server = await startServer({ engine });
      owner = await signIn(server, 'owner', 'ada@shop.example');
    });
    afterAll(() => server.stop());

    const team = async () =>
      (await owner.send('GET', '/console/api/team')).body.data as unknown as readonly Member[];
    const idOf = async (email: string) => (await team()).find((one) => one.email === email)?.id ?? '';
    const invite = (email: string, role: string) =>
      owner.send('POST', '/console/api/team', { body: { email, role } });

    it('an owner invites, and anyone who has the link is in; the same person again gets another link', async () => {
      const first = await invite(' Bob@Shop.example ', 'support');
      expect(first.body.data).toMatchObject({
        email: 'bob@shop.example',
        role: 'support',
        lastSignInAt: null,
      });
      const [address, token = ''] = String(first.body.data['signInUrl']).split('#');
      expect(address).toBe(`http://localhost:${new URL(server.url).port}/console`);
      const second = await invite('bob@shop.example', 'support');
      expect(second.body.data['id']).toBe(first.body.data['id']);
      expect((await invite('bob@shop.example', 'owner')).body.data.code).toBe('invalid_state');
      const bob = openBrowser(server.url);
      expect((await bob.send('POST', '/console/api/sign-in', { body: { token } })).status).toBe(404);
      const [, newer = ''] = String(second.body.data['signInUrl']).split('#');
      expect((await bob.send('POST', '/console/api/sign-in', { body: { token: newer } })).status).toBe(200);
      expect(await team()).toMatchObject([
        { email: 'ada@shop.example', role: 'owner', sessions: 1 },
        { email: 'bob@shop.example', role: 'support', sessions: 1 },
        // The server invited this person at its start, for people who try it out.
        { email: 'owner@shop.example', role: 'owner', sessions: 0 },
      ]);
    });

    it('the last owner stays, even if two owners remove each other at once', async () => {
      const ada = await idOf('ada@shop.example');
      const change = (browser: TestBrowser, id: string) =>
        browser.send('PATCH', `/console/api/team/${id}`, { body: { role: 'support' } });
      expect((await change(owner, ada)).body.data.code).toBe('invalid_state');
      expect((await owner.send('DELETE', `/console/api/team/${ada}`)).body.data.code).toBe('invalid_state');
      const eve = await signIn(server, 'owner', 'eve@shop.example');
      const both = await Promise.all([
        owner.send('DELETE', `/console/api/team/${await idOf('eve@shop.example')}`),
        eve.send('DELETE', `/console/api/team/${ada}`),
      ]);
      expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
      const rows = await consoleModule.rules(server.app).people.list(server.bootstrapped.merchantId);
      expect(rows.filter(({ role, lastSignInAt }) => role === 'owner' && lastSignInAt !== null)).toHaveLength(
        1,
      );
      owner = await signIn(server, 'owner', 'ada@shop.example');
    });

    it("another shop's people are nobody's business", async () => {
      const { app, database } = server;
      const stranger = await database.write(async (transaction) => {
        const { id: merchantId } = await app.merchants.create(transaction, { name: 'Another Shop' });
        return consoleModule
          .rules(app)
          .people.invite(transaction, { merchantId, email: 'ada@shop.example', role: 'owner' }, 'test');
      });
      for (const [method, path] of [
        ['PATCH', `/console/api/team/${stranger.id}`],
        ['DELETE', `/console/api/team/${stranger.id}`],
        ['POST', `/console/api/team/${stranger.id}/sign-out`],
      ] as const) {
        const answer = await owner.send(method, path, { body: { role: 'support' } });
        expect([answer.status, answer.body.data.code]).toEqual([404, 'not_found']);
      }
      expect((await team()).map(({ id }) => id)).not.toContain(stranger.id);
    });

    it('nobody ends a session of somebody else', async () => {
      const bob = await signIn(server, 'support', 'bob@shop.example');
      const own = (await owner.send('GET', '/console/api/session')).body.data['id'];
      expect((await bob.send('DELETE', `/console/api/sessions/${String(own)}`)).status).toBe(404);
      expect((await owner.send('GET', '/console/api/session')).status).toBe(200);
    });

    it('an owner sees where the team is signed in, and ends one session; another shop’s is like a random one', async () => {
      const phone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1';
      const bob = openBrowser(server.url);
      const { body: invited } = await invite('bob@shop.example', 'support');
      const [, token] = String(invited.data['signInUrl']).split('#');
      const headers = { 'User-Agent': phone };
      await bob.send('POST', '/console/api/sign-in', { body: { token }, headers });
      const bobs = String((await bob.send('GET', '/console/api/session')).body.data['id']);

      const list = async () =>
        (await owner.send('GET', '/console/api/team-sessions')).body.data as unknown as readonly Json[];
      const ofBob = (await list()).find(({ id }) => id === bobs);
      expect(ofBob).toMatchObject({
        isCurrent: false,
        userAgent: phone,
        signedInBy: 'link',
        person: { email: 'bob@shop.example', role: 'support' },
      });
      expect((await list()).filter(({ isCurrent }) => isCurrent)).toHaveLength(1);

      const { id: elsewhere } = await server.database.write((transaction) =>
        server.app.merchants.create(transaction, { name: 'Yet Another Shop' }),
      );
      const stranger = await signIn(server, 'owner', 'ada@shop.example', elsewhere);
      const theirs = String((await stranger.send('GET', '/console/api/session')).body.data['id']);
      expect((await list()).map(({ id }) => id)).not.toContain(theirs);
      const path = (id: string) => `/console/api/team-sessions/${id}`;
      const refused = await Promise.all(
        [theirs, '01J9ZQ8B0C1D2E3F4G5H6J7K8M'].map((id) => owner.send('DELETE', path(id))),
      );
      const answers = refused.map(({ status, body }) => [status, body.message, body.data.code]);
      expect(answers[0]).toEqual([404, 'No such session', 'not_found']);
      expect(answers[1]).toEqual(answers[0]);
      expect((await stranger.send('GET', '/console/api/session')).status).toBe(200);

      const manager = await signIn(server, 'manager', 'max@shop.example');
      for (const browser of [bob, manager]) {
        expect((await browser.send('GET', '/console/api/team-sessions')).body.data.code).toBe(
          'role_not_allowed',
        );
        expect((await browser.send('DELETE', path(bobs))).body.data.code).toBe('role_not_allowed');
      }
      expect((await owner.send('DELETE', path(bobs))).status).toBe(200);
      expect((await bob.send('GET', '/console/api/session')).status).toBe(401);
      expect((await owner.send('DELETE', path(bobs))).status).toBe(404);
      const { merchantId } = server.bootstrapped;
      const entries = await server.app.auditLog.list(server.database.reader, { merchantId });
      expect(entries.at(-1)).toMatchObject({
        action: 'session.ended',
        subjectId: bobs,
        actor: expect.stringContaining('ada@shop.example') as string,
        after: { of: await idOf('bob@shop.example') },
      });
    });

    it('a team has 100 people at most', async () => {
      const { id: merchantId } = await server.database.write((transaction) =>
        server.app.merchants.create(transaction, { name: 'Large Shop' }),
      );
      const others = Array.from({ length: 100 }, (_one, count) => ({
        id: `P${count}`,
        merchant_id: merchantId,
        email: `p${count}@large.example`,
        email_index: `p${count}@large.example`,
        role: 'support' as const,
        created_at: 0,
        signed_in_at: null,
      }));
      await server.database.write((transaction) => transaction.insertInto('people').values(others).execute());
      const more = { merchantId, email: 'more@large.example', role: 'support' } as const;
      const add = server.database.write((transaction) =>
        consoleModule.rules(server.app).people.invite(transaction, more, 'test'),
      );
      await expect(add).rejects.toThrow('cannot have more');
    });

    it('the command line invites, lists, signs out and removes, the last owner too', async () => {
      const { merchantId } = server.bootstrapped;
      const run = (...args: readonly string[]) =>
        runCommandLine(server.databaseUrl, args, { PUBLIC_URL: 'https://pay.example.com/shop' });
      const invited = await run(
        'users',
        'invite',
        '--merchant',
        merchantId,
        '--email',
        'Cy@shop.example',
        '--role',
        'manager',
      );
      const [, token = ''] =
        /^https:\/\/pay\.example\.com\/shop\/console#([\w-]{43})\n/.exec(invited.stdout) ?? [];
      const cy = openBrowser(server.url);
      expect((await cy.send('POST', '/console/api/sign-in', { body: { token } })).status).toBe(200);
      const listed = await run('users', 'list', '--merchant', merchantId, '--json');
      const people = JSON.parse(listed.stdout) as readonly Member[];
      expect(people.find(({ email }) => email === 'cy@shop.example')).toMatchObject({
        role: 'manager',
        sessions: 1,
      });
      const signedOut = await run('users', 'sign-out', 'CY@shop.example', '--merchant', merchantId);
      expect(signedOut.exitCode).toBe(0);
      expect((await cy.send('GET', '/console/api/session')).status).toBe(401);
      const removed = await run('users', 'remove', 'ada@shop.example', '--merchant', merchantId);
      expect(removed.exitCode).toBe(0);
      expect((await owner.send('GET', '/console/api/session')).status).toBe(401);
      const unknown = await run('users', 'remove', 'ada@shop.example', '--merchant', merchantId);
      expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining('No such person')]);
      const wrong = await run(
        'users',
        'invite',
        '--merchant',
        merchantId,
        '--email',
        'Cy',
        '--role',
        'manager',
      );
      expect(wrong.exitCode).toBe(2);
      const actions = (await server.app.auditLog.list(server.database.reader, { merchantId })).slice(-4);
      expect(actions.map(({ action, actor }) => [action, actor.startsWith('command line, ')])).toEqual([
        ['person.invited', true],
        ['session.started', false],
        ['person.signed_out', true],
        ['person.removed', true],
      ]);
    });
  });
