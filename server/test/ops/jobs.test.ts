/** Background jobs: how their failures are logged. */
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { NodeError } from '../../src/modules/networks/rpc/node-error.js';
import { NodesUnavailable } from '../../src/core/chains/nodes-unavailable.js';
import { createJobs } from '../../src/core/ops/jobs.js';

it('The outage of a node is a warning with one sentence, and any other failure an error with its stack', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    {},
    { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
  );
  const error = new NodeError('unreachable', 'node 1 cannot be reached');
  const job = (name: string, failure: Error) => ({
    name,
    intervalMs: 1,
    run: () => Promise.reject(failure),
  });
  const jobs = createJobs(
    [job('sweeps', new NodesUnavailable('No node', [error])), job('billing', new Error('Bug'))],
    log,
  );
  jobs.start();
  await expect.poll(() => lines.length).toBeGreaterThan(1);
  await jobs.stop();
  const of = (name: string) => lines.find(({ job: given }) => given === name);
  expect(of('sweeps')).toMatchObject({ level: 40, problem: 'No node' });
  expect(of('sweeps')).not.toHaveProperty('err');
  expect(of('billing')).toMatchObject({ level: 50, err: { stack: expect.any(String) as string } });
});
