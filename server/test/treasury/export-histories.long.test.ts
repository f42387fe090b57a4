/**
 * Random histories of exports: handed over, refused, released, failed and mined anyway, with treasuries that change and
 * blocks that are dropped. At the end of each, every payment of a treasury on the chain has settled one transfer, or
 * was reported.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hex } from 'viem';
import { transferTopic } from '../../src/modules/networks/evm/token.js';
import { Problem } from '../../src/core/shared/problem.js';
import { enginesOfSoak } from '../support/engines.js';
import { transact } from '../support/forwarders.js';
import { randomOf } from '../support/random.js';
import { roundsOf, seedsOf, startRound } from '../support/rounds.js';
import { confirmations, openTreasury, treasury, type TreasuryFixture } from './treasury-fixture.js';
import { treasury as treasuryModule } from '../../src/modules/treasury/module.js';

const second: Hex = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const destination = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
const network = 'evm-dev';
const steps = 40;
const { signal } = new AbortController();

const topicOf = (address: string): Hex => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
const dataOf = (amount: bigint): string =>
  `0xa9059cbb${topicOf(destination).slice(2)}${amount.toString(16).padStart(64, '0')}`;

describe.each(enginesOfSoak)('random histories of exports, on $name', (engine) => {
  let fixture: TreasuryFixture;
  /** The token's balance of all treasuries on the books, and the block, before the first history. */
  let start: { readonly books: bigint; readonly height: number };

  beforeAll(async () => {
    fixture = await openTreasury(engine);
    await fixture.setTreasury();
    const { address } = await fixture.lock('USDT');
    await fixture.sendTo(address, 'USDT', 100_000_000_000n);
    await fixture.watch();
    const { transactions } = await fixture.command<{ transactions: { to: string; data: string }[] }>(
      `sweeps export --network ${network} --format json`,
    );
    for (const { to, data } of transactions) await transact(fixture.anvil, to, data);
    await fixture.watch();
    const half = `0xa9059cbb${topicOf(second).slice(2)}${50_000_000_000n.toString(16).padStart(64, '0')}`;
    await transact(fixture.anvil, fixture.token, half, treasury);
    // Deeper than any block that a history drops.
    for (let time = 0; time < 3; time += 1) await fixture.watch();
    start = { books: (await fixture.custody('USDT')).treasury, height: await head() };
  });
  afterAll(() => fixture.stop());

  const head = async () => Number(await fixture.anvil.rpc('eth_blockNumber'));
  const seeds = seedsOf(roundsOf({ usual: 3, soak: 100 }));

  it.each(seeds)(
    'exports pay each transfer once, or report it (seed %i)',
    { timeout: 120_000 },
    async (seed) => {
      startRound(`histories of exports on ${engine.name}`, seed - 1, seeds.length);
      const history = await live(seed);
      await settleDown();
      await expectBooksOfChain(history);
    },
  );

  /** Lives one history. @returns the steps of the history, as text */
  async function live(seed: number): Promise<string> {
    const random = randomOf(seed);
    const pick = <T>(list: readonly T[]): T | undefined => list[random(list.length)];
    const history = [`seed ${seed}`];
    const { payoutExports, walletHandOver } = treasuryModule.rules(fixture.server.app);
    const scope = { merchantId: fixture.merchantId, mode: 'test' } as const;
    const transfers: { readonly id: string; readonly amount: bigint }[] = [];
    /** A wallet's copies of a transfer, also after it ended: nobody can withdraw them. */
    const copies: { readonly id: string; readonly amount: bigint; readonly from: Hex }[] = [];
    let current: Hex = treasury;
    await fixture.setTreasury(current);
    const reserved = async () =>
      (await payoutExports.list(scope)).filter(({ id }) => transfers.some((one) => one.id === id));

    const actions: Readonly<Record<string, () => Promise<unknown>>> = {
      // Few amounts, so that many are the same.
      async create() {
        const cents = seed * 10 + random(3);
        const { id } = await fixture.merchant.withdraw({
          amount: cents / 100,
          walletAddress: destination,
          walletNetwork: network,
        });
        transfers.push({ id, amount: BigInt(cents) * 10_000n });
      },
      async export() {
        const made = await payoutExports.create(
          payoutExports.networkOf('test', network),
          undefined,
          'test',
          signal,
        );
        for (const { id } of made.transfers) {
          const amount = transfers.find((one) => one.id === id)?.amount;
          if (amount !== undefined) copies.push({ id, amount, from: current });
        }
      },
      async handOver() {
        const row = pick(await reserved());
        const from = pick([current, current, treasury, second]) ?? current;
        if (!row) return;
        const given = { exportId: row.export_id, transfers: [row.id], from };
        await walletHandOver.handOver(scope, given, 'test', signal);
        copies.push({ id: row.id, amount: row.amount, from });
      },
      async refuse() {
        const row = pick(await reserved());
        const given = row && { exportId: row.export_id, transfers: [row.id], answer: null };
        if (given) await walletHandOver.keepAnswer(scope, given, 'test', signal);
      },
      async decide() {
        const row = pick(await reserved());
        if (row) await payoutExports.release([row], { decision: 'Test' }, 'test', signal);
      },
      async prove() {
        const row = pick(await reserved());
        if (!row?.account) return;
        const nonce = Number(await fixture.anvil.rpc('eth_getTransactionCount', [row.account, 'latest']));
        if (random(2) === 0) {
          await transact(fixture.anvil, row.account, '0x', row.account);
          await fixture.watch();
        }
        await payoutExports.release([row], { nonce: Math.max(0, nonce - random(2)) }, 'test', signal);
      },
      async fail() {
        const row = pick(transfers);
        if (row) await fixture.command(`transfers fail ${row.id} --reason Test`);
      },
      // Also of transfers that were released, failed or paid already.
      async mine() {
        const copy = pick(copies);
        if (copy) await transact(fixture.anvil, fixture.token, dataOf(copy.amount), copy.from);
      },
      async payByHand() {
        const amount = pick([pick(transfers)?.amount ?? 1n, BigInt(1 + random(100_000))]) ?? 1n;
        await transact(fixture.anvil, fixture.token, dataOf(amount), current);
      },
      async changeTreasury() {
        current = current === treasury ? second : treasury;
        await fixture.setTreasury(current);
      },
      async dropBlocks() {
        await fixture.anvil.mine(2);
        await fixture.anvil.reorg(1 + random(confirmations + 3));
      },
      watch: () => fixture.watch(),
    };
    const names = [
      ...[
        'create',
        'create',
        'create',
        'export',
        'export',
        'handOver',
        'handOver',
        'refuse',
        'decide',
        'decide',
      ],
      ...[
        'prove',
        'fail',
        'fail',
        'mine',
        'mine',
        'mine',
        'payByHand',
        'changeTreasury',
        'dropBlocks',
        'watch',
        'watch',
      ],
    ];
    for (let step = 0; step < steps; step += 1) {
      const name = pick(names) ?? 'watch';
      try {
        await actions[name]?.();
        history.push(name);
      } catch (error) {
        // A rule has refused it.
        if (!(error instanceof Problem)) throw new Error(history.join(', '), { cause: error });
        history.push(`${name} (refused)`);
      }
    }
    return history.join(', ');
  }

  async function settleDown(): Promise<void> {
    for (let time = 0; time < 4; time += 1) await fixture.watch();
  }

  async function expectBooksOfChain(history: string): Promise<void> {
    const { anvil, server, token } = fixture;
    const logs = await anvil.rpc<{ transactionHash: Hex; topics: Hex[]; data: Hex }[]>('eth_getLogs', [
      {
        address: token,
        fromBlock: `0x${start.height.toString(16)}`,
        topics: [transferTopic, [treasury, second].map(topicOf)],
      },
    ]);
    const left = logs.filter(({ topics }) => ![treasury, second].map(topicOf).includes(topics[2] ?? '0x'));
    const rows = await server.database.reader
      .selectFrom('treasury_payments')
      .selectAll()
      .where('currency', '=', 'USDT')
      .where('block_height', '>', start.height)
      .execute();
    // All that left the treasuries is recorded, and nothing else.
    expect(rows.map(({ tx_hash, amount }) => `${tx_hash} ${amount}`).sort(), history).toEqual(
      left.map((log) => `${log.transactionHash} ${BigInt(log.data)}`).sort(),
    );
    const transfers = await server.database.reader
      .selectFrom('transfers')
      .selectAll()
      .where('currency', '=', 'USDT')
      .execute();
    // Each transfer that is a success was paid by one of them, with its amount, and by no other.
    const settled = rows.flatMap(({ transfer_id: id, tx_hash: hash, amount }) =>
      id === null ? [] : `${id} ${hash} ${amount}`,
    );
    const paid = transfers.filter(({ status }) => status === 'success');
    expect(
      paid.map(({ id, tx_hash: hash, amount }) => `${id} ${hash ?? ''} ${amount}`).sort(),
      history,
    ).toEqual(settled.sort());
    // The rest is reported: no transfer explains it, or it is not clear which of several that wait.
    const waiting = new Set(
      transfers.filter(({ status }) => status === 'pending').map(({ amount }) => amount),
    );
    const silent = rows.filter(
      (row) => row.transfer_id === null && row.may_settle === 1 && !waiting.has(row.amount),
    );
    expect(silent, history).toEqual([]);
    const failed = transfers.filter(({ status }) => status === 'failed');
    const missed = rows.filter(
      (row) =>
        row.may_settle === 0 &&
        row.transfer_id === null &&
        failed.some(
          (one) =>
            one.amount === row.amount && (one.from_height ?? 0) < row.block_height && one.pays_again === null,
        ),
    );
    expect(missed, history).toEqual([]);
    const spent = paid.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    expect(start.books - (await fixture.custody('USDT')).treasury, history).toBe(spent);
    await fixture.booksInOrder();
  }
});
