/** Idempotency keys: a repeated request changes nothing, even after a crash or when sent to another process. */
import { randomBytes } from 'node:crypto';
import { endpoint } from 'crypto-checkout/contract';
import { sql } from 'kysely';
import * as z from 'zod/mini';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '../../src/core/shared/problem.js';
import { engines } from '../support/engines.js';
import { call, type Answer } from '../support/call.js';
import { startTable, type TableServer } from '../support/table-server.js';
import type { Transaction } from '../../src/core/db/engine.js';
import { clockAt } from '../support/clock.js';

const note = z.object({ id: z.number(), text: z.string() });
const body = z.object({ text: z.string(), count: z.optional(z.union([z.number(), z.string()])) });
const declare = {
  key: 'public',
  description: 'For tests.',
  body,
  data: note,
  sample: { message: 'Note created' },
} as const;

const table = {
  notes: {
    create: endpoint({ ...declare, method: 'POST', path: '/v1/notes', aliases: ['/v1/notes/alias'] }),
    crash: endpoint({ ...declare, method: 'POST', path: '/v1/crash' }),
    refuse: endpoint({ ...declare, method: 'POST', path: '/v1/refuse' }),
    wrong: endpoint({ ...declare, method: 'POST', path: '/v1/wrong' }),
    unchanged: endpoint({ ...declare, method: 'POST', path: '/v1/unchanged' }),
    update: endpoint({
      ...declare,
      method: 'PATCH',
      path: '/v1/notes/{note_id}',
      params: z.object({ note_id: z.string() }),
    }),
    remove: endpoint({ ...declare, method: 'DELETE', path: '/v1/notes' }),
  },
};

/** Adds a row that tests can count. */
async function write(transaction: Transaction, text: string): Promise<number> {
  const rows = await transaction
    .selectFrom('settings')
    .select('name')
    .where('name', 'like', 'note-%')
    .execute();
  const id = rows.length + 1;
  await transaction
    .insertInto('settings')
    .values({ name: `note-${id}`, value: text })
    .execute();
  return id;
}

describe.each(engines)('An Idempotency-Key on $name', (engine) => {
  let database: { url: string; dispose: () => Promise<void> };
  let server: TableServer;
  let replica: TableServer;
  /** The `create` handler waits for it in the middle of its change. */
  let gate: Promise<void> = Promise.resolve();
  /** Called when the handler has reached the gate. */
  let onEntered: () => void = () => undefined;
  let now = 1_800_000_000_000;
  let key = 0;

  const start = () =>
    startTable({
      table,
      databaseUrl: database.url,
      clock: clockAt(() => now),
      handlers: {
        notes: {
          create: ({ body: { text } }, { change }) =>
            change(async (transaction) => {
              const data = { id: await write(transaction, text), text };
              onEntered();
              await gate;
              return data;
            }),
          async crash({ body: { text } }, { change }) {
            await change(async (transaction) => ({ id: await write(transaction, text), text }));
            throw new Error('The process died before it could reply');
          },
          refuse: ({ body: { text } }, { change }) =>
            change(async (transaction) => {
              await write(transaction, text);
              throw new Problem('invalid_state', 'Not now');
            }),
          wrong: ({ body: { text } }, { change }) =>
            change(async (transaction) => ({
              id: String(await write(transaction, text)) as unknown as number,
              text,
            })),
          unchanged: ({ body: { text } }) =>
            Promise.resolve({ message: 'Looked up', data: { id: (now += 1), text } }),
          update: ({ body: { text } }, { change }) =>
            change(async (transaction) => ({ id: await write(transaction, text), text })),
          remove: ({ body: { text } }, { change }) =>
            change(async (transaction) => ({ id: await write(transaction, text), text })),
        },
      },
    });

  beforeAll(async () => {
    database = await engine.create();
    server = await start();
    // Stands for another process: it shares only the database.
    replica = await start();
  });
  afterAll(async () => {
    await server.stop();
    await replica.stop();
    await database.dispose();
  });
  beforeEach(() => {
    key += 1;
  });
  afterEach(() => {
    gate = Promise.resolve();
    onEntered = () => undefined;
  });

  const sendNote = (
    text: unknown,
    path = '/v1/notes',
    { at = server, method = 'POST', apiKey = server.secret } = {},
  ) =>
    call(at.url, method, path, {
      key: apiKey,
      body: typeof text === 'string' ? { text } : text,
      headers: { 'Idempotency-Key': `key-${key}` },
    });
  const count = async () => {
    const rows = await server.database.reader.selectFrom('settings').select('name').execute();
    return rows.filter(({ name }) => name.startsWith('note-')).length;
  };
  const isReplay = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';

  it('A repeated request gets the first reply, and changes nothing', async () => {
    const before = await count();
    const first = await sendNote('a');
    const second = await sendNote('a');
    expect([first.status, second.status, second.body]).toEqual([200, 200, first.body]);
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
    expect(await count()).toBe(before + 1);
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
  });

  it('The comparison of bodies ignores unknown fields', async () => {
    const first = await sendNote('a');
    const second = await sendNote({ surplus: 1, text: 'a' });
    expect([second.status, second.body]).toEqual([200, first.body]);
  });

  it('An idempotency key with another body is a 422', async () => {
    await sendNote('a');
    const { status, body: answer } = await sendNote('b');
    expect([status, answer.data.code]).toEqual([422, 'idempotency_mismatch']);
  });

  it('An idempotency key applies to one method and path, and an alias counts as another path', async () => {
    const before = await count();
    const answers = [
      await sendNote('a'),
      await sendNote('a', '/v1/notes/alias'),
      await sendNote('a', '/v1/notes/N1', { method: 'PATCH' }),
      await sendNote('a', '/v1/notes/N2', { method: 'PATCH' }),
    ];
    expect(answers.map(isReplay)).toEqual([false, false, false, false]);
    expect(await count()).toBe(before + 4);
    expect(isReplay(await sendNote('a', '/v1/notes/%4E2', { method: 'PATCH' }))).toBe(true);
  });

  it('An idempotency key works for a path that is too long for a database index', async () => {
    // Random, because PostgreSQL would compress anything else to a shorter value.
    const path = `/v1/notes/${randomBytes(4500).toString('base64url')}`;
    const first = await sendNote('a', path, { method: 'PATCH' });
    expect([first.status, isReplay(first)]).toEqual([200, false]);
    expect(isReplay(await sendNote('a', path, { method: 'PATCH' }))).toBe(true);
    expect(isReplay(await sendNote('a', `${path}0`, { method: 'PATCH' }))).toBe(false);
  });

  it('An idempotency key applies to one kind and mode of API key', async () => {
    const answers = [
      await sendNote('a'),
      await sendNote('a', '/v1/notes', { apiKey: server.public }),
      await sendNote('a', '/v1/notes', { apiKey: server.live }),
      await sendNote('a', '/v1/notes', { apiKey: server.public }),
    ];
    expect(answers.map(isReplay)).toEqual([false, false, false, true]);
  });

  it('DELETE ignores the key, as it is idempotent anyway', async () => {
    await sendNote('a', '/v1/notes', { method: 'DELETE' });
    expect(isReplay(await sendNote('a', '/v1/notes', { method: 'DELETE' }))).toBe(false);
  });

  it('A refusal is not kept for its idempotency key, whether validation or a rule refused', async () => {
    expect((await sendNote({ text: 1 })).status).toBe(400);
    expect((await sendNote('a')).status).toBe(200);
    const before = await count();
    expect((await sendNote('a', '/v1/refuse')).status).toBe(409);
    expect((await sendNote('b', '/v1/refuse')).status).toBe(409);
    expect(await count()).toBe(before);
  });

  it('A change whose reply breaks the contract is rolled back', async () => {
    const before = await count();
    expect((await sendNote('a', '/v1/wrong')).status).toBe(500);
    expect(await count()).toBe(before);
    expect((await sendNote('b', '/v1/wrong')).status).toBe(500);
  });

  it('A retry gets the reply of a change that committed although its reply was lost', async () => {
    const before = await count();
    expect((await sendNote('a', '/v1/crash')).status).toBe(500);
    const { status, body: answer } = await sendNote('a', '/v1/crash');
    expect([status, answer]).toEqual([
      200,
      { status: 'success', message: 'Note created', data: { id: before + 1, text: 'a' } },
    ]);
    expect(await count()).toBe(before + 1);
  });

  it('The reply of a handler that changes nothing is stored too', async () => {
    const first = await sendNote('a', '/v1/unchanged');
    const second = await sendNote('a', '/v1/unchanged');
    expect([isReplay(second), second.body]).toEqual([true, first.body]);
    expect((await sendNote('b', '/v1/unchanged')).status).toBe(422);
  });

  it('An idempotency key is a 409 while its first request is in progress', async () => {
    let openGate: () => void = () => undefined;
    gate = new Promise((resolve) => (openGate = resolve));
    const entered = new Promise<void>((resolve) => (onEntered = resolve));
    const first = sendNote('a');
    await entered;
    const second = await sendNote('a');
    expect([second.status, second.body.data.code]).toEqual([409, 'idempotency_in_progress']);
    openGate();
    expect((await first).status).toBe(200);
    expect(isReplay(await sendNote('a'))).toBe(true);
  });

  it('An idempotency key sent twenty times at once makes one change', async () => {
    const before = await count();
    const answers = await Promise.all(Array.from({ length: 20 }, () => sendNote('a')));
    expect(await count()).toBe(before + 1);
    expect(answers.filter((answer) => answer.status === 200 && !isReplay(answer))).toHaveLength(1);
    expect(answers.every((answer) => answer.status === 409 || answer.body.data['text'] === 'a')).toBe(true);
  });

  it('An idempotency key sent to two processes at once makes one change, and both get the reply', async () => {
    const before = await count();
    const answers = await Promise.all(
      [server, replica].map((at) => sendNote('a', '/v1/notes', { at, apiKey: server.secret })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map(isReplay).sort()).toEqual([false, true]);
    expect(answers[0]?.body).toEqual(answers[1]?.body);
    expect(await count()).toBe(before + 1);
  });

  if (engine.name === 'PostgreSQL')
    it('The second process waits for the first, and then returns the same reply', async () => {
      const before = await count();
      let openGate: () => void = () => undefined;
      gate = new Promise((resolve) => (openGate = resolve));
      const entered = new Promise<void>((resolve) => (onEntered = resolve));
      const first = sendNote('a');
      await entered;
      const second = sendNote('a', '/v1/notes', { at: replica });
      await expect.poll(waitingTransactions).toBe(1);
      openGate();
      const answers = await Promise.all([first, second]);
      expect(answers.map(isReplay)).toEqual([false, true]);
      expect(answers[1].body).toEqual(answers[0].body);
      expect(await count()).toBe(before + 1);
    });

  async function waitingTransactions(): Promise<number> {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(server.database.reader);
    return rows.length;
  }

  async function prune() {
    await server.idempotency.prune();
  }

  it('An idempotency key expires after 24 hours, whether it was pruned or not', async () => {
    await sendNote('a');
    now += 24 * 60 * 60 * 1000 - 10;
    await prune();
    expect((await sendNote('b')).status).toBe(422);
    now += 10;
    expect(isReplay(await sendNote('b'))).toBe(false);
    expect(isReplay(await sendNote('b'))).toBe(true);
    now += 24 * 60 * 60 * 1000;
    await prune();
    const kept = await server.database.reader.selectFrom('idempotency').select('request').execute();
    expect(kept).toEqual([]);
  });

  it.each([
    ['empty', ''],
    ['longer than 255 characters', 'x'.repeat(256)],
  ])('A key that is %s is 400', async (_name, value) => {
    const options = { key: server.secret, body: { text: 'a' }, headers: { 'Idempotency-Key': value } };
    const { status, body: answer } = await call(server.url, 'POST', '/v1/notes', options);
    expect([status, answer.data.param]).toEqual([400, 'Idempotency-Key']);
  });

  it('An idempotency key of 255 characters is accepted', async () => {
    const options = {
      key: server.secret,
      body: { text: 'a' },
      headers: { 'Idempotency-Key': 'x'.repeat(255) },
    };
    expect((await call(server.url, 'POST', '/v1/notes', options)).status).toBe(200);
  });
});
