/** The identity of a person leaves the audit log when they are erased, and the chain of its entries stays whole. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { productTables } from '../../src/database.js';
import { commandContext, runWith } from '../support/command-context.js';
import { signIn } from '../support/browser.js';
import { enginesOfQuick } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

const email = 'ada.lovelace@shop.example';

describe.each(enginesOfQuick)('Somebody of the team who is erased, on $name', (engine) => {
  let server: TestServer;
  let merchant: string;
  beforeAll(async () => {
    // The server stores the address at which it is reached, which must not be that of the person.
    server = await startServer({ engine, env: { PUBLIC_URL: 'https://pay.example.com' } });
    merchant = server.bootstrapped.merchantId;
  });
  afterAll(() => server.stop());

  const run = (line: string) => runWith(commandContext(server), `${line} --merchant ${merchant}`);
  const audit = async () =>
    (await run('audit list')).json as {
      actor: string;
      action: string;
      subjectId: string;
      before: object | null;
      after: object | null;
    }[];
  const check = () => runWith(commandContext(server), 'audit check');
  /** The tables that have a text anywhere. */
  async function tablesWith(text: string): Promise<string[]> {
    const found: string[] = [];
    for (const name of Object.keys(productTables)) {
      const { rows } = await sql`select * from ${sql.table(name)}`.execute(server.database.reader);
      if (JSON.stringify(rows).includes(text)) found.push(name);
    }
    return found;
  }

  it('The log names a person until they are erased, in no table but their own, and afterwards only by an id', async () => {
    const browser = await signIn(server, 'owner', email);
    const made = await browser.send('POST', '/console/api/keys', {
      body: { kind: 'secret', scope: 'read', label: 'Till' },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    const session = await browser.send('GET', '/console/api/session');
    const { id } = session.body.data['person'] as { id: string };
    const named = new RegExp(`^${email}, owner ${id}, from \\S*127\\.0\\.0\\.1, request \\S+$`);
    const own = async () => (await audit()).filter(({ actor }) => actor.includes(`owner ${id}`));
    expect(await own()).toMatchObject([
      { action: 'session.started', actor: expect.stringMatching(named) as string },
      { action: 'key.created', actor: expect.stringMatching(named) as string },
    ]);
    expect(await tablesWith(email)).toEqual(['people']);

    await expect(run(`users erase ${email}`)).rejects.toThrow('Remove them first');
    await run(`users remove ${email}`);
    expect(await own()).toMatchObject([
      { actor: expect.stringMatching(named) as string },
      { actor: expect.stringMatching(named) as string },
    ]);
    expect((await audit()).filter(({ subjectId }) => subjectId === id)).toMatchObject([
      { action: 'person.invited', before: null, after: { email, role: 'owner' } },
      { action: 'person.removed', before: { email, role: 'owner' }, after: null },
    ]);
    expect(await tablesWith(email)).toEqual(['audit_identities']);
    const before = (await check()).json as { entries: number; lastHash: string };

    await run(`users erase ${email.toUpperCase()}`);
    expect(await own()).toMatchObject([
      { actor: expect.stringMatching(new RegExp(`^erased person, owner ${id}, request \\S+$`)) as string },
      { actor: expect.stringMatching(/^erased person, /) as string },
    ]);
    expect((await audit()).filter(({ subjectId }) => subjectId === id)).toMatchObject([
      { action: 'person.invited', after: { role: 'owner' } },
      { action: 'person.removed', before: { role: 'owner' } },
      { action: 'person.erased', actor: 'a test' },
    ]);
    expect(await tablesWith(email)).toEqual([]);
    expect(await tablesWith('127.0.0.1')).toEqual([]);
    expect(await tablesWith(id)).toEqual(['audit_log']);
    const noted = await runWith(commandContext(server), `audit check --noted ${before.lastHash}`);
    expect(noted.json).toMatchObject({ broken: null, entries: before.entries + 1 });
    await expect(run(`users erase ${email}`)).rejects.toThrow();
  });
});
