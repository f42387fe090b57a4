/**
 * The main job under the Node.js that the Dockerfile runs, on PostgreSQL. On SQLite it cannot be tried here: the driver's
 * native part is built for the Node.js that ran `npm ci`.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createCheckoutClient, createMerchantClient, verifyPayment } from 'crypto-checkout/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findLtsNode } from '../../scripts/find-lts-node.mjs';
import { reportSkipped } from '../../test/missing.js';
import { engines, type TestDatabase } from './support/engines.js';
import { startProcess, type ServerProcess } from './support/process.js';

const node = await findLtsNode();
const engine = engines.find(({ name }) => name === 'PostgreSQL');
if ('reason' in node) reportSkipped('The tests under the Dockerfile’s Node.js', node.reason);

const key = (prefix: string) => prefix + randomBytes(32).toString('base64url');

describe.skipIf('reason' in node || !engine)('Under the Dockerfile’s Node.js, on PostgreSQL', () => {
  const [publicKey, secretKey] = [key('pk_test_'), key('sk_test_')];
  const path = 'path' in node ? node.path : '';
  let database: TestDatabase;
  let server: ServerProcess;
  beforeAll(async () => {
    if (!engine) throw new Error('No PostgreSQL');
    database = await engine.create();
    server = await startProcess(
      {
        DATABASE_URL: database.url,
        BOOTSTRAP_PUBLIC_KEY: publicKey,
        BOOTSTRAP_SECRET_KEY: secretKey,
        BLOCK_INTERVAL_MS: '0',
      },
      path,
    );
  });
  afterAll(async () => {
    await server.stop();
    await database.dispose();
  });

  it('The Node.js of these tests is of the line that the Dockerfile names, and has long-term support', () => {
    const [, line = '?'] =
      /^FROM node:(\d+)/m.exec(readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8')) ?? [];
    const [version = '', lts] = execFileSync(
      path,
      ['-p', '`${process.versions.node} ${process.release.lts}`'],
      {
        encoding: 'utf8',
      },
    )
      .trim()
      .split(' ');
    expect([version.split('.')[0], lts]).toEqual([line, expect.stringMatching(/^[A-Z]/)]);
  });

  it('a payment is created, locked, paid, confirmed and verified', async () => {
    const checkout = createCheckoutClient({ apiUrl: server.url, publicKey });
    const { data } = await checkout.create({ amount: 10, baseCurrency: 'USD', txRef: 'order-lts' });
    const { id } = data.payment;
    await checkout.setCurrency(id, 'USDT', 'tron');
    const locked = (await checkout.lockCurrency(id)).data;
    const sandbox = async (call: string, body: object) => {
      const response = await fetch(`${server.url}/sandbox/${call}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(response.status).toBe(200);
    };
    const address = locked.addressInformation?.address;
    await sandbox('transfers', { network: 'tron', currency: 'USDT', address, amount: locked.amount });
    await sandbox('blocks', { network: 'tron', count: 2 });
    const merchant = createMerchantClient({ apiUrl: server.url, secretKey });
    const verified = (await merchant.transactions.verify({ params: { transaction_id: id } })).data;
    expect(verified.status).toBe('success');
    const order = { txRef: 'order-lts', baseAmount: 10, baseCurrency: 'USD', mode: 'test' } as const;
    expect(verifyPayment(verified, order)).toMatchObject({ verified: true });
  });
});
