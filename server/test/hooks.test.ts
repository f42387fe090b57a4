/** Modules answer the core's questions together, as far as the kind of each question allows. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../src/core/db/database.js';
import { createHooks } from '../src/core/hooks.js';
import { connectOf } from '../src/core/module.js';
import { openDatabase } from '../src/database.js';

describe('Two modules that answer the core', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase('sqlite::memory:');
  });
  afterAll(() => database.close());

  it('Two modules cannot both answer a question for one module, and the error names them', () => {
    const hooks = createHooks();
    const answers = { consoleUrl: () => 'https://shop.example/console' };
    hooks.register('console', answers);
    hooks.register('reports', {});
    expect(() => hooks.register('pages', answers)).toThrow(
      'The modules console and pages both have the answer to "consoleUrl". Only one module can',
    );
  });

  it('Two modules cannot both connect networks, and the error names them', () => {
    const connect = () => [];
    const nothing = { name: 'books', connect: undefined };
    expect(connectOf([nothing, { name: 'networks', connect }])).toBe(connect);
    expect(() => connectOf([{ name: 'networks', connect }, nothing, { name: 'nodes', connect }])).toThrow(
      'The modules networks and nodes both have a "connect". Only one module can',
    );
  });

  it('The answers of two modules make one list, in their order', async () => {
    const hooks = createHooks();
    hooks.register('first', { soughtCoins: () => Promise.resolve(new Set(['aa:0', 'bb:1'])) });
    hooks.register('second', { soughtCoins: () => Promise.resolve(['cc:2']) });
    expect(await hooks.soughtCoins('live', 'litecoin')).toEqual(['aa:0', 'bb:1', 'cc:2']);
  });

  it('Modules act one after the other, until one of them refuses', async () => {
    const hooks = createHooks();
    const acted: string[] = [];
    for (const name of ['first', 'second', 'third']) {
      hooks.register(name, {
        async ensurePayable(_reader, mode) {
          await new Promise(setImmediate);
          acted.push(name);
          if (name === 'second' && mode === 'live') throw new Error('Not now');
        },
      });
    }
    await hooks.ensurePayable(database.reader, 'test', undefined);
    expect(acted).toEqual(['first', 'second', 'third']);
    await expect(hooks.ensurePayable(database.reader, 'live', undefined)).rejects.toThrow('Not now');
    expect(acted.slice(3)).toEqual(['first', 'second']);
  });

  it('Modules are asked until one says yes', async () => {
    const hooks = createHooks();
    const asked: string[] = [];
    const says = (name: string, isYes: boolean) =>
      hooks.register(name, {
        isUnsafe() {
          asked.push(name);
          return Promise.resolve(isYes);
        },
      });
    says('first', false);
    expect(await hooks.isUnsafe(database.reader, 'live')).toBe(false);
    says('second', true);
    says('third', true);
    expect(await hooks.isUnsafe(database.reader, 'live')).toBe(true);
    expect(asked).toEqual(['first', 'first', 'second']);
  });

  it('The reason is that of the first module that has one', async () => {
    const hooks = createHooks();
    const transfer = { refund_id: null, merchant_id: 'm1', mode: 'live' } as const;
    hooks.register('first', { whyNotPaid: () => Promise.resolve(undefined) });
    expect(await hooks.whyNotPaid(database.reader, transfer)).toBe(undefined);
    hooks.register('second', { whyNotPaid: () => Promise.resolve('second says so') });
    hooks.register('third', { whyNotPaid: () => Promise.resolve('third says so') });
    expect(await hooks.whyNotPaid(database.reader, transfer)).toBe('second says so');
  });
});
