/** Transfers on networks where the server does not send: an operator does, and says so on the command line. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engines } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openTill, strangers, type Till } from '../support/till.js';

const hash = 'ab'.repeat(32);
const otherHash = 'cd'.repeat(32);

describe.each(engines)('transfers that an operator carries out, on $name', (engine) => {
  let server: TestServer;
  let till: Till;
  beforeAll(async () => {
    server = await startServer({
      engine,
      overrides: { signers: (signers) => signers.filter(({ network }) => network !== 'tron') },
    });
    till = openTill(server);
    await till.fund({ amount: 100 });
  });
  afterAll(async () => {
    await till.expectBooksInOrder();
    await server.stop();
  });

  async function accept(change: object = {}): Promise<string> {
    const { status, body } = await till.transfer({ amount: 5, ...change });
    expect(status, JSON.stringify(body)).toBe(200);
    return String(body.data['id']);
  }

  it('stay pending, and are settled with the hash of what was sent, once', async () => {
    const before = await till.balance();
    const id = await accept();
    expect(await till.command('transfers', 'list', '--status', 'pending')).toMatchObject([
      { id, executor: 'operator', amount: '5', fee: '0.2', network: 'tron', address: strangers.tron },
    ]);
    await till.mine(5);
    expect((await till.retrieve(id)).status).toBe('pending');
    expect(await till.ask('GET', '/v1/payouts')).toEqual([]);

    const settle = ['transfers', 'settle', id, '--tx-hash', hash.toUpperCase(), '--network-fee', '0.05'];
    const settled = await till.command(...settle);
    expect(settled).toMatchObject({ id, status: 'success', txHash: hash });
    expect(await till.command(...settle)).toEqual(settled);
    expect(await till.refusal('transfers', 'settle', id, '--tx-hash', otherHash)).toBe(
      `The transfer was settled with ${hash}`,
    );
    expect(await till.refusal('transfers', 'fail', id, '--reason', 'Too late')).toBe(
      'The transfer was settled',
    );
    expect(await till.retrieve(id)).toMatchObject({ status: 'success', txHash: hash });
    expect(await till.ask('GET', '/v1/payouts')).toMatchObject([
      { transfer: id, status: 'success', txHash: hash },
    ]);
    const after = await till.balance();
    expect(after.totalBalance).toBeCloseTo(before.totalBalance - 5.2, 9);
    const cost = await server.database.reader
      .selectFrom('ledger_accounts')
      .select('balance')
      .where('id', '=', 'test/USDT/network_fee')
      .executeTakeFirst();
    expect(cost?.balance).toBe('50000');
  });

  it('are given up, once, and the money is available again', async () => {
    const before = await till.balance();
    const id = await accept();
    const fail = ['transfers', 'fail', id, '--reason', 'The address is on a list of thieves'];
    const failed = await till.command(...fail);
    expect(failed).toMatchObject({
      id,
      status: 'failed',
      failureReason: 'The address is on a list of thieves',
    });
    expect(await till.command(...fail)).toEqual(failed);
    expect(await till.refusal('transfers', 'settle', id, '--tx-hash', hash)).toBe('The transfer has failed');
    expect(await till.balance()).toEqual(before);
    expect(await till.retrieve(id)).toMatchObject({ failureReason: 'The address is on a list of thieves' });
  });

  it('are those alone that the server does not send itself', async () => {
    const id = await accept({ amount: 1, walletAddress: strangers.evm, walletNetwork: 'bsc' });
    const reason = 'The server sends on bsc itself; this transfer is its own';
    expect(await till.refusal('transfers', 'settle', id, '--tx-hash', hash)).toBe(reason);
    expect(await till.refusal('transfers', 'fail', id, '--reason', 'No')).toBe(reason);
    await till.until(id, 'success', 'bsc');
  });

  it('need a hash, a reason and an id that exist', async () => {
    const id = await accept();
    expect(await till.refusal('transfers', 'settle', id, '--tx-hash', 'yes')).toContain(
      '64 hexadecimal digits',
    );
    expect(
      await till.refusal('transfers', 'settle', id, '--tx-hash', hash, '--network-fee', '0.0000001'),
    ).toContain('network-fee: Must be a decimal with at most 6 decimals');
    expect(await till.refusal('transfers', 'fail', id, '--reason', ' ')).toContain('1 to 255 characters');
    expect(await till.refusal('transfers', 'fail', 'NOTHING', '--reason', 'No')).toBe('No such transfer');
    expect((await till.retrieve(id)).status).toBe('pending');
  });
});
