/**
 * The transactions of a gas key: servers that share the key sign the same one, and store it once. Two of them preparing at once is
 * what sent twice in OpenZeppelin/openzeppelin-relayer#845.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/core/db/database.js';
import { newId } from '../../src/core/shared/ids.js';
import { openDatabase } from '../../src/database.js';
import { insertTransaction } from '../../src/modules/treasury/gas-transactions.js';
import type { GasTransactionRow } from '../../src/modules/treasury/tables.js';
import { enginesOfQuick, type TestDatabase } from '../support/engines.js';
import { roundsOf } from '../support/rounds.js';

const rounds = roundsOf({ usual: 40, soak: 400 });

describe.each(enginesOfQuick)('The transactions of a gas key on $name', (engine) => {
  let testDatabase: TestDatabase;
  let servers: Database[];
  beforeAll(async () => {
    testDatabase = await engine.create();
    // Only PostgreSQL takes several servers.
    const count = engine.name === 'PostgreSQL' ? 2 : 1;
    servers = await Promise.all(Array.from({ length: count }, () => openDatabase(testDatabase.url)));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()));
    await testDatabase.dispose();
  });

  const signed = (nonce: number, hash = `0x${nonce}`): GasTransactionRow => ({
    id: newId(),
    mode: 'test',
    network: 'evm-dev',
    sender: '0xkey',
    nonce,
    attempt: 0,
    tx_hash: hash,
    raw: '0x',
    call_data: '0x',
    addresses: 1,
    currency: 'ETH',
    gas_limit: 1n,
    max_fee: 1n,
    priority_fee: 1n,
    status: 'open',
    cost: null,
    block_height: null,
    created_at: Date.now(),
    ended_at: null,
  });
  const insert = async (server: Database | undefined, row: GasTransactionRow) =>
    server?.write((transaction) => insertTransaction(transaction, row));

  it('A transaction is stored once by servers that sign the same one at the same time, and fails on none', async () => {
    for (let nonce = 0; nonce < rounds; nonce += 1) {
      const attempts = Array.from({ length: 8 }, (_, place) =>
        insert(servers[place % servers.length], signed(nonce)),
      );
      const stored = await Promise.all(attempts);
      expect(stored.filter(Boolean), `nonce ${nonce}`).toHaveLength(1);
    }
  });

  it('A transaction is refused if the same one is stored with another nonce', async () => {
    await insert(servers[0], signed(rounds, '0xsame'));
    await expect(insert(servers[0], signed(rounds + 1, '0xsame'))).rejects.toThrow('with another nonce');
  });
});
