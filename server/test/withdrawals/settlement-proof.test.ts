/** Settling a transfer by hand: only with a transaction that has really paid it, and only once. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChainTransfer } from '../../src/core/chains/chain.js';
import type { Network } from '../../src/core/chains/networks.js';
import type { Database } from '../../src/core/db/database.js';
import { openDatabase } from '../../src/database.js';
import type { TransferRow } from '../../src/core/db/schema.js';
import { createCurrencies } from '../../src/core/money/currencies.js';
import { currencies as currencyList } from '../../src/core/money/currency-list.js';
import { createTestClock } from '../../src/core/chains/simulated/test-clock.js';
import { createMerchants } from '../../src/core/merchants/merchants.js';
import { newId } from '../../src/core/shared/ids.js';
import { insertTransfer } from '../../src/core/withdrawals/transfer-store.js';
import { proveSettlement, type Proof } from '../../src/core/withdrawals/settlement-proof.js';
import { engines, type TestDatabase } from '../support/engines.js';

const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const stranger = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
const hash = 'ab'.repeat(32);
const { signal } = new AbortController();

const network: Network = {
  mode: 'live',
  code: 'polygon',
  name: 'Polygon',
  family: 'evm',
  confirmations: 12,
  assets: { USDC: { minAmount: '0.1', withdrawalFee: '0' } },
};
const currencies = createCurrencies(currencyList, [network]);
const chainAssets = {
  POL: { currency: 'POL', decimals: 18 },
  USDC: { currency: 'USDC', decimals: 6, contract: stranger },
};

describe.each(engines)('the proof of a settlement on $name', (engine) => {
  let testDatabase: TestDatabase;
  let database: Database;
  let merchantId: string;
  let transfers: ChainTransfer[];
  let located: number | undefined;
  /** The amount that a contract sent in the block; undefined if no node reports it. */
  let inside: bigint | undefined;
  /** The treasuries of the merchant; undefined if any account may pay. */
  let payers: readonly string[] | undefined;

  beforeAll(async () => {
    testDatabase = await engine.create();
    database = await openDatabase(testDatabase.url);
    const merchants = createMerchants(await createTestClock(database), newId);
    ({ id: merchantId } = await database.write((transaction) =>
      merchants.create(transaction, { name: 'Shop' }),
    ));
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.dispose();
  });
  beforeEach(async () => {
    await database.write((transaction) => transaction.deleteFrom('transfers').execute());
    transfers = [paid('USDC', 5_000_000n)];
    await haveRead(111);
    located = 100;
    inside = 0n;
    payers = undefined;
  });

  const paid = (currency: string, amount: bigint, to = address): ChainTransfer => ({
    txHash: `0x${hash}`,
    outputIndex: 0,
    currency,
    senders: [],
    address: to,
    amount,
  });

  async function transfer(changes: Partial<TransferRow> = {}): Promise<string> {
    const row: TransferRow = {
      id: newId(),
      merchant_id: merchantId,
      mode: 'live',
      status: 'pending',
      executor: 'operator',
      currency: 'USDC',
      network: 'polygon',
      amount: 5000000n,
      fee: 0n,
      address,
      wallet_address_id: null,
      refund_id: null,
      tx_hash: null,
      paid_from: null,
      network_fee: null,
      failure_reason: null,
      settled_at: null,
      reversals: 0,
      from_height: null,
      pays_again: null,
      created_at: 0,
      updated_at: 0,
      ...changes,
    };
    await database.write((transaction) => insertTransfer(transaction, row));
    return row.id;
  }

  /** As the scan of the network has stored it. */
  const haveRead = (height: number, final_height: number | null = null) =>
    database.write((transaction) =>
      transaction
        .insertInto('chain_cursors')
        .values({
          mode: 'live',
          network: 'polygon',
          height,
          hash: 'head',
          head_height: height,
          first_height: 0,
          synced_at: 0,
          read_until: 0,
          final_height,
          overdue_since: null,
          gaps: '[]',
          problem: null,
          is_wrong_chain: 0,
          node_limits: null,
          lease_holder: null,
          lease_until: 0,
        })
        .onConflict((conflict) => conflict.columns(['mode', 'network']).doUpdateSet({ height, final_height }))
        .execute(),
    );

  const look = (transferId: string, height?: number, txHash = hash): Promise<Proof | undefined> => {
    const real = {
      network,
      locate: () => Promise.resolve(located === undefined ? undefined : { height: located, isFailed: false }),
      cost: () => Promise.resolve({ fee: 1000n, payer: undefined }),
      chainAssets,
      chainFor: (addresses: ReadonlySet<string>) => ({
        mode: network.mode,
        network: network.code,
        head: () => Promise.resolve({ height: 1_000_000, hash: 'of a wrong node' }),
        block: (at: number) =>
          Promise.resolve({
            height: at,
            hash: 'block',
            parentHash: 'parent',
            time: 0,
            transfers: at === 100 ? transfers.filter((one) => addresses.has(one.address)) : [],
          }),
        pending: () => Promise.resolve([]),
      }),
    };
    const clock = { at: (_: unknown, realTime: number) => realTime };
    const deps = { reader: database.reader, clock, currencies, networks: [real] };
    const sentByContracts = () => Promise.resolve(inside);
    const payersOf = () => Promise.resolve(payers);
    return proveSettlement({ ...deps, sentByContracts, payersOf }, { transferId, txHash, height }, signal);
  };
  const claim = async (...payment: Parameters<typeof look>): Promise<bigint | undefined> => {
    const proof = await look(...payment);
    return proof && database.write((transaction) => proof.claim(transaction));
  };
  const prove = async (...payment: Parameters<typeof look>): Promise<void> => {
    await claim(...payment);
  };

  it('a settlement is proved by a transaction that pays the amount, deep enough', async () => {
    await expect(prove(await transfer())).resolves.toBeUndefined();
    await expect(prove(await transfer(), undefined, `0x${hash.toUpperCase()}`)).resolves.toBeUndefined();
  });

  it('the proof of a settlement adds up the outputs of one transaction', async () => {
    transfers = [paid('USDC', 2_000_000n), paid('USDC', 3_000_000n)];
    await expect(prove(await transfer())).resolves.toBeUndefined();
  });

  it.each([
    ['too little', () => (transfers = [paid('USDC', 4_999_999n)]), 'pays 4.999999 USDC'],
    ['another asset', () => (transfers = [paid('USDT', 5_000_000n)]), 'pays USDT to 0x5aAe'],
    [
      'to another address',
      () => (transfers = [paid('USDC', 5_000_000n, stranger)]),
      'pays nothing to 0x5aAe',
    ],
    ['nothing at all', () => (transfers = []), 'pays nothing'],
    ['not deep enough', () => haveRead(110), '11 of 12 confirmations'],
    ['of which no node knows', () => (located = undefined), '--unverified'],
  ])('a transaction does not prove a settlement: %s', async (_, change, message) => {
    await change();
    await expect(prove(await transfer())).rejects.toThrow(message);
  });

  it('another transaction in the same block does not prove a settlement', async () => {
    await expect(prove(await transfer(), undefined, 'cd'.repeat(32))).rejects.toThrow('pays nothing');
  });

  it('the proof uses the block that the operator gives if no node finds the transaction by its hash', async () => {
    located = undefined;
    const id = await transfer();
    await expect(prove(id, 100)).resolves.toBeUndefined();
    await expect(prove(id, 99)).rejects.toThrow('In block 99 of Polygon');
  });

  it('one payment settles one transfer only', async () => {
    await transfer({ status: 'success', tx_hash: `0x${hash}` });
    await expect(prove(await transfer())).rejects.toThrow('5 USDC have settled other transfers');
    transfers = [paid('USDC', 10_000_000n)];
    await expect(prove(await transfer())).resolves.toBeUndefined();
  });

  it('one payment settles one transfer only, also when two are settled at the same moment', async () => {
    const ids = [await transfer(), await transfer()];
    // Both have looked at the chain before either settles.
    const claims = await Promise.all(ids.map((id) => look(id)));
    const settled = await Promise.allSettled(
      ids.map((id, index) =>
        database.write(async (transaction) => {
          await claims[index]?.claim(transaction);
          await transaction
            .updateTable('transfers')
            .set({ status: 'success', tx_hash: index === 0 ? hash : `0x${hash}` })
            .where('id', '=', id)
            .execute();
        }),
      ),
    );
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = settled.find(({ status }) => status === 'rejected');
    expect(String(refused && Reflect.get(refused, 'reason'))).toContain('have settled other transfers');
  });

  it('one of two transfers bears the fee of their transaction when both are settled at the same moment', async () => {
    const coin = { currency: 'POL', amount: 5000000n };
    transfers = [paid('POL', 5_000_000n), paid('POL', 5_000_000n, stranger)];
    const ids = [await transfer(coin), await transfer({ ...coin, address: stranger })];
    const claims = await Promise.all(ids.map((id) => look(id)));
    const fees = await Promise.all(
      ids.map((id, index) =>
        database.write(async (transaction) => {
          const fee = (await claims[index]?.claim(transaction)) ?? 0n;
          // So that the other one has claimed too, if nothing keeps it.
          await delay(50);
          await transaction
            .updateTable('transfers')
            .set({ status: 'success', tx_hash: hash, network_fee: fee.toString() })
            .where('id', '=', id)
            .execute();
          return fee;
        }),
      ),
    );
    expect(fees.reduce((sum, fee) => sum + fee, 0n)).toBe(1000n);
  });

  it('confirmations count the blocks that were read, whatever a node reports as its head or final block', async () => {
    await haveRead(105, 105);
    await expect(prove(await transfer())).rejects.toThrow('6 of 12 confirmations');
  });

  it('the proof fails if a node has another block at that height than the one that was read', async () => {
    const block = { mode: 'live', network: 'polygon', height: 100, hash: 'another' } as const;
    await database.write((transaction) => transaction.insertInto('scanned_blocks').values(block).execute());
    await expect(prove(await transfer())).rejects.toThrow('another block at height 100');
    await database.write((transaction) =>
      transaction.updateTable('scanned_blocks').set({ hash: 'block' }).execute(),
    );
    await expect(prove(await transfer())).resolves.toBeUndefined();
  });

  it('a block that was known when the transfer was made, or is older by its time, proves no settlement', async () => {
    await expect(prove(await transfer({ from_height: 99 }))).resolves.toBeUndefined();
    await expect(prove(await transfer({ from_height: 100 }))).rejects.toThrow('before this transfer');
    await expect(prove(await transfer({ created_at: 1000 }))).rejects.toThrow('before this transfer');
    await expect(prove(await transfer({ created_at: 999 }))).resolves.toBeUndefined();
    // A settled transfer is looked up only for its fee.
    const settled = { status: 'success', tx_hash: `0x${hash}`, from_height: 100 } as const;
    await expect(prove(await transfer(settled))).resolves.toBeUndefined();
  });

  it('only a payment from a treasury proves a settlement if the merchant has one', async () => {
    const [one] = transfers;
    if (!one) throw new Error('Nothing is paid');
    payers = [stranger.toLowerCase()];
    transfers = [{ ...one, senders: [address] }];
    await expect(prove(await transfer())).rejects.toThrow(/sent by 0x5aAe.* --unverified/);
    transfers = [
      { ...one, amount: 4_000_000n, senders: [stranger] },
      { ...one, senders: [address] },
    ];
    await expect(prove(await transfer())).rejects.toThrow('pays 4 USDC');
    transfers = [{ ...one, senders: [stranger] }];
    await expect(prove(await transfer())).resolves.toBeUndefined();
  });

  it('no proof is required on a network without a node, or for a failed or unknown transfer', async () => {
    transfers = [];
    await expect(prove(await transfer({ network: 'tron' }))).resolves.toBeUndefined();
    await expect(prove(await transfer({ status: 'failed' }))).resolves.toBeUndefined();
    await expect(prove('unknown')).resolves.toBeUndefined();
  });

  it("the proof gives the rest of the transaction's fee for a transfer of the coin, and 0 for a token", async () => {
    expect(await claim(await transfer())).toBe(0n);
    const coin = { currency: 'POL', amount: 5000000n };
    transfers = [paid('POL', 15_000_000n)];
    expect(await claim(await transfer(coin))).toBe(1000n);
    const borne = { status: 'success', tx_hash: `0x${hash}`, network_fee: 700n } as const;
    const id = await transfer({ ...coin, ...borne });
    expect(await claim(await transfer(coin))).toBe(300n);
    // To correct the fee of the one that was settled.
    expect(await claim(id)).toBe(1000n);
  });

  it('the coin that a contract of the merchant sent proves a settlement while a node still has the balances', async () => {
    transfers = [];
    const id = await transfer({ currency: 'POL' });
    await expect(prove(id)).rejects.toThrow('pays nothing');
    inside = 4_999_999n;
    await expect(prove(id)).rejects.toThrow('pays 0.000000000004999999 POL');
    inside = 5_000_000n;
    await expect(prove(id)).resolves.toBeUndefined();
    inside = undefined;
    await expect(prove(id)).rejects.toThrow('only its balances show it');
    // A token leaves a log, or was not sent.
    await expect(prove(await transfer())).rejects.toThrow('pays nothing');
  });
});
