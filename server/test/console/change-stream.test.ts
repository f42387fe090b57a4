/** The endpoint that says when a page of the console has changed, without the rest of the server. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import express from 'express';
import { expect, it, vi } from 'vitest';
import type { Sessions } from '../../src/core/api/session.js';
import { createPermissions } from '../../src/core/shared/permissions.js';
import type { PersonCaller } from '../../src/core/shared/scope.js';
import { changesRoute, changeStream } from '../../src/modules/console/http/change-stream.js';

it('Nothing is watched for a caller who has left before being identified', async () => {
  const watch = vi.fn(() => () => {});
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  let identify = () => {};
  const isIdentified = new Promise<void>((resolve) => (identify = resolve));
  const caller = {
    merchantId: 'M1',
    mode: 'test',
    kind: 'secret',
    person: { role: 'owner' },
  } as PersonCaller;
  const sessions = {
    tokenOf: () => 'token',
    async identify() {
      asked();
      await isIdentified;
      return caller;
    },
  } as Partial<Sessions> as Sessions;
  const handle = vi.fn(
    changeStream({ watch }, createPermissions([]), {
      sessions,
      callerLimits: undefined,
      ipLimits: undefined,
      keys: { authenticate: () => Promise.resolve(undefined) },
    }),
  );
  const server = createServer(express().get(changesRoute, handle)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hasLeft = new Promise<void>((resolve) => {
    server.once('request', (_request, response) => response.once('close', () => resolve()));
  });
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET /console/api/changes/test HTTP/1.1\r\nHost: x\r\n\r\n');
  await isAsked;
  client.destroy();
  await hasLeft;
  identify();
  await handle.mock.results[0]?.value;
  expect(watch).not.toHaveBeenCalled();
  server.close();
});
