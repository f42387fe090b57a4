/** Security events in the log: anyone who watches it sees attacks and changes of keys, and no attack fills it. */
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRefusalLog } from '../../src/core/ops/security-events.js';
import { call } from '../support/call.js';
import { runCommandLine } from '../support/command-line.js';
import { enginesOfQuick } from '../support/engines.js';
import { startServer } from '../support/server.js';

function collect() {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { lines, log: pino({ level: 'info' }, { write }) };
}

describe.each(enginesOfQuick)('On $name, the log at info', (engine) => {
  it('The log at info has wrong keys, refused access, limits, and keys made and revoked by any process', async () => {
    const { lines, log } = collect();
    const env = { RATE_LIMIT: 'on', RATE_LIMIT_PAGES_PER_SECOND_PER_IP: '1' };
    const server = await startServer({ engine, env, log });
    onTestFinished(() => server.stop());
    const { url, publicKey, databaseUrl, bootstrapped } = server;
    const wrong = `sk_live_${'x'.repeat(43)}`;
    for (let count = 0; count < 5; count += 1) await call(url, 'GET', '/v1/payments/P1', { key: wrong });
    await call(url, 'GET', '/v1/customers', { key: publicKey });
    await Promise.all(Array.from({ length: 10 }, () => call(url, 'GET', '/readyz')));
    const refused = ({ msg, ip, method, path, code, requestId }: Record<string, unknown>) =>
      // A server that has just started may not have scanned every network.
      typeof requestId === 'string' && path !== '/readyz' && [msg, ip, method, path, code];
    expect(lines.map(refused).filter(Boolean)).toEqual([
      ['Wrong key', '127.0.0.1', 'GET', '/v1/payments/…', 'invalid_api_key'],
      ['Access refused', '127.0.0.1', 'GET', '/v1/customers', 'secret_key_required'],
      ['Limit hit', '127.0.0.1', 'GET', 'unknown', 'rate_limited'],
    ]);

    const { merchantId } = bootstrapped;
    const run = async (...args: string[]) => {
      const { stdout, stderr } = await runCommandLine(databaseUrl, [...args, '--json']);
      expect(stderr).not.toContain('fail');
      return JSON.parse(stdout) as { id: string; key: string };
    };
    const { id, key } = await run(
      'keys',
      'create',
      '--merchant',
      merchantId,
      '--kind',
      'secret',
      '--mode',
      'test',
    );
    await run('keys', 'revoke', id);
    const audited = () => lines.filter(({ subjectId }) => subjectId === id);
    await expect
      .poll(() => audited().map(({ action }) => action), { timeout: 10_000 })
      .toEqual(['key.created', 'key.revoked']);
    expect(audited()[0]).toMatchObject({
      msg: 'Audit',
      merchantId,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      actor: expect.stringContaining('user') as string,
    });
    // The next look sees the same entries again.
    const next = await run('keys', 'create', '--merchant', merchantId, '--kind', 'public', '--mode', 'test');
    await expect
      .poll(() => lines.some(({ subjectId }) => subjectId === next.id), { timeout: 10_000 })
      .toBe(true);
    expect(audited()).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toContain(key);
    expect(JSON.stringify(lines)).not.toContain(wrong);
  });
});

it('A flood of refusals from a thousand addresses logs a hundred lines a minute, and how many were left out', () => {
  const { lines, log } = collect();
  let now = 0;
  const logRefusal = createRefusalLog(log, () => now);
  const refusal = { code: 'invalid_api_key', requestId: 'R', method: 'GET', path: '/v1/customers' };
  const refuse = (address: number) => logRefusal({ ...refusal, ip: `192.0.2.${address}` });
  for (let round = 0; round < 3; round += 1)
    for (let address = 0; address < 1000; address += 1) refuse(address);
  expect(lines).toHaveLength(100);
  now += 60_000;
  refuse(1);
  expect(lines.slice(100)).toMatchObject([{ leftOut: 2900 }, { ip: '192.0.2.1', msg: 'Wrong key' }]);
  // Refusals that no attacker causes are no security events.
  logRefusal({ ...refusal, code: 'not_found', ip: '192.0.2.2' });
  expect(lines).toHaveLength(102);
});
