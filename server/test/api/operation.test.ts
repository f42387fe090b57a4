/** The limit of one change per request: the stored reply of an Idempotency-Key covers only one transaction. */
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:http';
import { api } from 'crypto-checkout/contract';
import express from 'express';
import { expect, it, onTestFinished } from 'vitest';
import { plainData } from '../support/plain-data.js';
import { createHooks } from '../../src/core/hooks.js';
import { createAuditLog } from '../../src/core/merchants/audit-log.js';
import { createCookies } from '../../src/core/api/cookies.js';
import { createOperation } from '../../src/core/api/operation.js';
import { openDatabase } from '../../src/database.js';
import { startRequest } from '../../src/core/ops/request.js';
import type { Caller } from '../../src/core/shared/scope.js';
import { clockAt } from '../support/clock.js';
import { enginesOfQuick } from '../support/engines.js';

const caller: Caller = {
  kind: 'secret',
  merchantId: 'merchant',
  mode: 'test',
  keyScope: 'full',
  keyLast4: 'last',
};

it.each(enginesOfQuick)(
  'A handler that changes data a second time fails before it does, on $name',
  async (engine) => {
    const { url: databaseUrl, dispose } = await engine.create();
    const database = await openDatabase(databaseUrl);
    onTestFinished(async () => {
      await database.close();
      await dispose();
    });
    const sample = api.wallets.retrieve.sample;
    const changes: string[] = [];
    const endpoint = api.wallets.retrieve;
    const run = createOperation(
      'wallets.retrieve',
      endpoint,
      endpoint.path,
      async (_input, context) => {
        await context.change(() => Promise.resolve((changes.push('first'), sample.data)));
        return context.change(() => Promise.resolve((changes.push('second'), sample.data)));
      },
      {
        database,
        idempotency: undefined,
        sessions: undefined,
        cookiesOf: createCookies('http://127.0.0.1'),
        auditLog: createAuditLog(
          clockAt(() => 0),
          plainData,
          createHooks().emailsOf,
        ),
        stopping: new AbortController().signal,
      },
    );
    const app = express().use(startRequest);
    app.get('/', async (request, response) => {
      const call = { request, response, caller, values: [sample.data.id] };
      const outcome = await run(call).catch((error: unknown) => error);
      response.json(outcome instanceof Error ? outcome.message : outcome);
    });
    const server = createServer(app);
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    expect(await answer.json()).toBe('A handler may call change() only once');
    expect(changes).toEqual(['first']);
  },
);
