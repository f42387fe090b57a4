/** Public reports of proxies in front of Node.js that get no answer, because the server closed a connection that they were about to use. */
import { it as eachAlone } from 'vitest';
import { sqlite } from '../support/engines.js';
import { openKept } from '../support/kept-connection.js';
import { startServer } from '../support/server.js';

/** They wait most of the time, so they wait together. */
const it = eachAlone.concurrent;

const start = (env: Readonly<Record<string, string>> = {}) => startServer({ engine: sqlite, env });

// nodejs/node#20256, districtbuilder#448, medplum#2253: 5 s here, and 60 s in nginx and load balancers
it('an idle connection is kept for longer than the 60 s of proxies, and says so', async ({
  expect,
  onTestFinished,
}) => {
  const server = await start();
  onTestFinished(() => server.stop());
  const kept = await openKept(server);
  onTestFinished(kept.close);
  expect(await kept.create()).toMatchObject({ status: 200, keepAlive: 'timeout=75' });
  // Six seconds later, 131 of 240 creates got no answer.
  await kept.idle(6);
  expect(await kept.create()).toMatchObject({ status: 200 });
}, 20_000);

it('the limit is a setting: before it, a request is answered on the same connection, after it the connection is closed', async ({
  expect,
  onTestFinished,
}) => {
  const server = await start({ KEEP_ALIVE_SECONDS: '2' });
  onTestFinished(() => server.stop());
  const [early, late] = await Promise.all([openKept(server), openKept(server)]);
  onTestFinished(early.close);
  expect(await early.create()).toMatchObject({ status: 200, keepAlive: 'timeout=2' });
  expect(await late.create()).toMatchObject({ status: 200 });
  await early.idle(1);
  expect(await early.create()).toMatchObject({ status: 200 });
  await late.idle(4);
  expect(late.isOpen()).toBe(false);
});

// nodejs/node#27363, nodejs/node#26166: the limit of the headers began with the connection, and cut those that were kept
it('a request whose headers are slow is answered, however long the connection was idle before', async ({
  expect,
  onTestFinished,
}) => {
  const server = await start({ KEEP_ALIVE_SECONDS: '1' });
  onTestFinished(() => server.stop());
  const kept = await openKept(server);
  onTestFinished(kept.close);
  for (let index = 0; index < 2; index += 1) {
    expect(await kept.create(1500)).toMatchObject({ status: 200 });
  }
}, 20_000);
