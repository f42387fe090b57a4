/**
 * Commands with which an operator looks things up and acts for a merchant who calls, by the rules and views of the API.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfSoak } from '../support/engines.js';
import { externalAddresses, openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfSoak)('the support desk, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let owner: string[];
  beforeAll(async () => {
    // Commands expect the server at this address, and know no port of a test.
    server = await startServer({ engine, env: { PUBLIC_URL: 'http://127.0.0.1:8080' } });
    merchant = openShop(server);
    const [first] = (await merchant.command('merchants', 'list')) as { id: string }[];
    owner = ['--merchant', first?.id ?? ''];
  });
  afterAll(() => server.stop());

  it('the support desk finds a payment by its reference, address or transaction, but not one of another merchant', async () => {
    const { id, address } = await merchant.lock();
    const { txHash } = await merchant.send(address, 10);
    const shown = (await merchant.command('payments', 'show', id, ...owner)) as { txRef: string };
    expect(shown).toEqual(await merchant.ask('GET', `/v1/transactions/${id}/verify`));
    for (const text of [shown.txRef, address, txHash]) {
      expect(await merchant.command('payments', 'find', text, ...owner), text).toMatchObject([{ id }]);
    }
    expect(await merchant.command('payments', 'list', '--transaction', txHash, ...owner)).toMatchObject({
      total: 1,
      payments: [{ id }],
    });
    const other = (await merchant.command('merchants', 'create', '--name', 'Other')) as { id: string };
    for (const text of [shown.txRef, address, txHash]) {
      expect(await merchant.command('payments', 'find', text, '--merchant', other.id)).toEqual([]);
    }
  });

  it('the support desk shows balances as the API does, with the network of the coins, and can make a transfer', async () => {
    await merchant.fund({ amount: 100 });
    const listed = (await merchant.command('balances', 'list', ...owner)) as {
      currency: string;
      networks?: { network: string; amount: number }[];
    }[];
    expect(listed).toEqual(await merchant.ask<object[]>('GET', '/v1/balances'));
    const usdt = listed.find(({ currency }) => currency === 'USDT');
    expect(usdt?.networks?.map(({ network }) => network)).toContain('tron');
    const create = ['transfers', 'create', '--currency', 'USDT', '--to', externalAddresses.tron, ...owner];
    const transfer = (await merchant.command(...create, '--network', 'tron', '--amount', '5')) as {
      id: string;
    };
    expect(await merchant.retrieve(transfer.id)).toMatchObject({ id: transfer.id, amount: 5 });
    expect(await merchant.refusal(...create, '--network', 'tron', '--amount', '5000')).toContain('only');
    const audit = JSON.stringify(await merchant.command('audit', 'list', ...owner));
    expect(audit).toContain('transfer.created');
  });

  it('the support desk lists the failing webhooks with their URL and order, and keys with their creation time', async () => {
    const [id = ''] = owner.slice(1);
    const url = 'http://127.0.0.1:9/hook';
    await merchant.command('merchants', 'update', id, '--webhook-url', url);
    const { id: paymentId, address } = await merchant.lock();
    await merchant.send(address, 10);
    await merchant.mine(3);
    const { txRef } = (await merchant.command('payments', 'show', paymentId, ...owner)) as { txRef: string };
    await expect
      .poll(() => merchant.command('webhooks', 'list', '--failing', ...owner), { timeout: 10_000 })
      .toContainEqual(expect.objectContaining({ url, txRef }));
    const keys = await merchant.run('keys', 'list');
    expect(keys.stdout).toMatch(
      /^ID +MERCHANT +MODE +KEY +LABEL +CREATED +LAST USED +SCOPE +STATE\n.* \d{4}-\d\d-\d\dT/,
    );
  });
});
