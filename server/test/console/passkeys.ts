/** Passkeys: added in a session, and then enough to sign in with; and everything that looks like one and is none. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authenticator, type Answer } from '../support/authenticator.js';
import { openBrowser, signIn, type TestBrowser } from '../support/browser.js';
import type { TestEngine } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

export const testPasskeys = (engine: TestEngine): unknown =>
  describe(`On ${engine.name}`, () => {
    let server: TestServer;
    let real = Date.now();
    let own: Pick<Answer, 'origin' | 'rpId'>;
    beforeAll(async () => {
      server = await startServer({ engine, overrides: { realNow: () => real } });
      own = { origin: `http://localhost:${new URL(server.url).port}`, rpId: 'localhost' };
    });
    afterAll(() => server.stop());

    const challengeFor = async (browser: TestBrowser, path: string) =>
      String((await browser.send('POST', path, { body: {} })).body.data['challenge']);
    const forCreation = (browser: TestBrowser) => challengeFor(browser, '/console/api/passkeys/options');
    const forSignIn = () => challengeFor(openBrowser(server.url), '/console/api/passkey-sign-in/options');

    async function add(browser: TestBrowser, passkey: Authenticator, given: Partial<Answer> = {}) {
      const challenge = given.challenge ?? (await forCreation(browser));
      const credential = passkey.create({ ...own, ...given, challenge });
      return browser.send('POST', '/console/api/passkeys', { body: { credential, name: "Ada's phone" } });
    }

    const useWith = (browser: TestBrowser, credential: Record<string, unknown>) =>
      browser.send('POST', '/console/api/passkey-sign-in', { body: { credential } });

    async function use(
      passkey: Authenticator,
      given: Partial<Answer> = {},
      browser = openBrowser(server.url),
    ) {
      const challenge = given.challenge ?? (await forSignIn());
      const credential = passkey.sign({ ...own, ...given, challenge }, 'anybody');
      return { answer: await useWith(browser, credential), browser, credential };
    }

    it('A passkey signs in, and proves again who somebody is', async () => {
      const ada = await signIn(server, 'owner', 'ada@shop.example');
      const passkey = new Authenticator();
      const added = await add(ada, passkey);
      expect(added.body.data).toMatchObject({ id: passkey.id, name: "Ada's phone", lastUsedAt: null });

      const invite = { body: { email: 'new@shop.example', role: 'support' } };
      real += 11 * 60_000;
      expect((await ada.send('POST', '/console/api/team', invite)).body.data.code).toBe('step_up_required');
      const before = ada.cookie;
      const { answer } = await use(passkey, {}, ada);
      expect(answer.body.data).toMatchObject({ person: { email: 'ada@shop.example' }, passkeys: 1 });
      expect(ada.cookie).not.toBe(before);
      expect((await ada.send('POST', '/console/api/team', invite)).status).toBe(200);
      // The session that it took the place of has ended.
      expect((await openBrowser(server.url, before).send('GET', '/console/api/session')).status).toBe(401);

      const { body } = await ada.send('GET', '/console/api/sessions');
      expect(body.data).toMatchObject([{ isCurrent: true, signedInBy: 'passkey' }]);
      const actions = (await server.app.auditLog.list(server.database.reader, {})).map(
        ({ action }) => action,
      );
      expect(actions.slice(-4)).toEqual([
        'session.started',
        'passkey.added',
        'session.started',
        'person.invited',
      ]);
    });

    it('an answer counts once, even for two at the same time', async () => {
      const person = await signIn(server, 'support', 'once@shop.example');
      const passkey = new Authenticator();
      await add(person, passkey);
      const challenge = await forSignIn();
      const credential = passkey.sign({ ...own, challenge }, 'anybody');
      const tries = await Promise.all([1, 2, 3].map(() => useWith(openBrowser(server.url), credential)));
      expect(tries.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    });

    it.each([
      ['of another site', { origin: 'https://evil.example' }],
      ['for another site', { rpId: 'evil.example' }],
      ['without a finger, a face or a PIN', { isVerified: false }],
      ['to a challenge that we did not make', { challenge: 'A'.repeat(72) }],
      ['to none', { challenge: '' }],
    ])('an answer %s is refused, to add one and to sign in', async (_what, given) => {
      const person = await signIn(server, 'support', 'careful@shop.example');
      expect((await add(person, new Authenticator(), given)).body.data.code).toBe('validation_error');
      const passkey = new Authenticator();
      expect((await add(person, passkey)).status).toBe(200);
      const { answer } = await use(passkey, given);
      expect([answer.status, answer.body.data.code]).toEqual([404, 'not_found']);
      expect(answer.headers.get('set-cookie')).toBe(null);
    });

    it('a challenge counts only for its purpose and its person, and for 5 minutes', async () => {
      const person = await signIn(server, 'support', 'purpose@shop.example');
      const other = await signIn(server, 'support', 'other@shop.example');
      expect((await add(person, new Authenticator(), { challenge: await forSignIn() })).status).toBe(400);
      expect((await add(person, new Authenticator(), { challenge: await forCreation(other) })).status).toBe(
        400,
      );
      const passkey = new Authenticator();
      await add(person, passkey);
      expect((await use(passkey, { challenge: await forCreation(person) })).answer.status).toBe(404);
      const late = await forSignIn();
      real += 5 * 60_000;
      expect((await use(passkey, { challenge: late })).answer.status).toBe(404);
      expect((await use(passkey)).answer.status).toBe(200);
    });

    it("nobody signs in with another one's key, with a copy whose counter lags, or with one that was removed", async () => {
      const person = await signIn(server, 'support', 'copied@shop.example');
      const passkey = new Authenticator();
      await add(person, passkey, { counter: 1 });
      const forged = new Authenticator();
      Object.assign(forged, { id: passkey.id });
      expect((await use(forged, { counter: 2 })).answer.status).toBe(404);
      expect((await use(passkey, { counter: 5 })).answer.status).toBe(200);
      expect((await use(passkey, { counter: 5 })).answer.status).toBe(404);
      const thief = await signIn(server, 'support', 'passkey-thief@shop.example');
      expect((await thief.send('DELETE', `/console/api/passkeys/${passkey.id}`)).status).toBe(404);
      expect((await person.send('DELETE', `/console/api/passkeys/${passkey.id}`)).status).toBe(200);
      expect((await use(passkey, { counter: 6 })).answer.status).toBe(404);
    });

    it('a stolen session adds none: that takes a fresh sign-in', async () => {
      const person = await signIn(server, 'support', 'stale@shop.example');
      const challenge = await forCreation(person);
      real += 10 * 60_000;
      expect((await add(person, new Authenticator(), { challenge })).body.data.code).toBe('step_up_required');
    });

    it.each([{}, { id: 1 }, { id: 'x', response: null }, { id: 'x', response: { clientDataJSON: '%' } }])(
      'an answer that is no credential is refused: %j',
      async (credential) => {
        const person = await signIn(server, 'support', 'junk@shop.example');
        const body = { credential, name: 'Junk' };
        expect((await person.send('POST', '/console/api/passkeys', { body })).status).toBe(400);
        expect((await useWith(openBrowser(server.url), credential)).status).toBe(404);
      },
    );
  });
