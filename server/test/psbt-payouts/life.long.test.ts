/**
 * The life of a PSBT after it was exported: fee bumps, reorganisations, lost mempools, double spends, second thoughts.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Transaction } from '@scure/btc-signer';
import { fromUnits } from 'crypto-checkout/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import {
  network,
  opened,
  openPayoutShop,
  type PayoutMerchant,
  type PayoutShop,
  type ShownPsbt,
} from './fixture.js';

/** Of nobody: the node's own wallet would automatically broadcast again a transaction that pays it. */
const elsewhereTo = { amount: '0.1', to: 'rltc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqnmxrc5' };

// A node for each engine: empty blocks can only be made below the height at which MWEB begins.
describe.skipIf(!hasLitecoind).each(enginesOfTurn)('The life of a PSBT, on $name', (engine) => {
  let node: LitecoinNode;
  let shop: PayoutShop;
  beforeAll(async () => {
    node = await startLitecoin();
    shop = await openPayoutShop(engine, node);
  });
  // A payout that has ended is followed for a day. All those of earlier tests would take most of the time of the later
  // ones.
  afterEach(() =>
    shop.server.database.write((transaction) =>
      transaction
        .updateTable('psbts')
        .set({ confirmed_at: 0 })
        .where('state', 'in', ['settled', 'discarded'])
        .execute(),
    ),
  );
  afterAll(async () => {
    await shop.close();
    await node.stop();
  });

  const mempool = () => node.rpc<string[]>('getrawmempool');
  const hashOf = (psbt: ShownPsbt, number: number) => psbt.versions[number - 1]?.txHash ?? '';
  const rawOf = async (hash: string) =>
    (
      await shop.server.database.reader
        .selectFrom('psbt_versions')
        .select('signed_transaction')
        .where('tx_hash', '=', hash)
        .executeTakeFirstOrThrow()
    ).signed_transaction ?? '';
  /** The number of postings of the network's fee and of amounts that left custody. */
  const postings = async (id: string) =>
    (
      await shop.server.database.reader
        .selectFrom('ledger_postings')
        .select('key')
        .where('key', 'like', `%${id}%`)
        .execute()
    )
      .map(({ key }) => key.split(':')[0])
      .sort();

  /** Ids of the transfers that a transaction has settled. */
  const transfersWith = async (txHash: string) =>
    (
      await shop.server.database.reader
        .selectFrom('transfers')
        .select('id')
        .where('tx_hash', '=', txHash)
        .where('status', '=', 'success')
        .execute()
    ).map(({ id }) => id);

  /** A merchant with one transfer in a PSBT. */
  async function prepare(funds = ['0.5'], amounts: Parameters<PayoutMerchant['transfers']> = ['0.1']) {
    const merchant = await shop.merchant();
    await merchant.fund(...funds);
    const rows = await merchant.transfers(...amounts);
    const exported = await merchant.export();
    return { merchant, rows, exported, first: rows[0]?.id ?? '' };
  }

  /** Spends the first coin of a PSBT elsewhere, as somebody with the same wallet can. Returns the transaction. */
  function spendElsewhere(
    { merchant, exported }: Awaited<ReturnType<typeof prepare>>,
    fee = 100_000n,
  ): string {
    const original = opened(exported.psbt);
    const { script = new Uint8Array() } = original.getOutput(-1 + original.outputsLength);
    const amount = (original.getInput(0).witnessUtxo?.amount ?? 0n) - fee;
    return merchant.signOther([exported], [{ script, amount }]).hex;
  }

  describe('reserves', () => {
    it('A PSBT reserves its transfers and coins: a second export takes neither', async () => {
      const { merchant, exported, first } = await prepare(['0.3', '0.2'], ['0.1']);
      expect(await merchant.export()).toMatchObject({ psbt: null, skipped: [] });
      const [second] = await merchant.transfers('0.05');
      const before = await shop.exported();
      const other = await merchant.export();
      expect(await shop.exported()).toBe(before + 1);
      expect(other.transfers.map(({ id }) => id)).toEqual([second?.id]);
      expect(other.inputs).not.toEqual(exported.inputs);
      expect(other.changePath).toBe('1/1');
      const fail = () => shop.run('transfers fail --reason no', first);
      const settle = `transfers settle --unverified --tx-hash ${'ab'.repeat(32)}`;
      await expect(fail()).rejects.toThrow(`The transfer is in the PSBT ${exported.id}`);
      await expect(shop.run(settle, first)).rejects.toThrow(`The transfer is in the PSBT ${exported.id}`);
      await shop.import(merchant.sign(exported.psbt));
      expect(await shop.exported()).toBe(before);
      await expect(fail()).rejects.toThrow(`The transfer is paid by the PSBT ${exported.id}`);
    });

    it('Only one of three exports at the same time makes a PSBT', async () => {
      const merchant = await shop.merchant();
      await merchant.fund('0.3', '0.2');
      await merchant.transfers('0.1', '0.1');
      const answers = await Promise.allSettled([merchant.export(), merchant.export(), merchant.export()]);
      const made = answers.filter((answer) => answer.status === 'fulfilled' && 'id' in answer.value);
      expect(made).toHaveLength(1);
      for (const answer of answers) {
        if (answer.status === 'rejected') expect(String(answer.reason)).toMatch(/Run the export again/);
      }
    });
  });

  describe('refuses', () => {
    it.each([
      ['0.5', /below what the node relays now: it takes at least 1 satoshis/],
      ['1000.1', /above the highest rate of 1000 satoshis per virtual byte/],
      ['0,5', /must be satoshis per virtual byte, such as 12 or 1.5/],
      ['-1', /must be satoshis per virtual byte/],
      [undefined, /The node cannot estimate a fee yet/],
    ])('An export refuses a fee rate of %s', async (rate, message) => {
      const merchant = await shop.merchant();
      await merchant.fund('0.2');
      await merchant.transfers('0.1');
      await expect(merchant.export({ 'fee-rate': rate })).rejects.toThrow(message);
    });

    it('An export refuses a fee that is more than the payment', async () => {
      const merchant = await shop.merchant();
      await merchant.fund('0.2');
      await merchant.transfers('0.0005');
      await expect(merchant.export({ 'fee-rate': '900' })).rejects.toThrow(
        /The fee would be 0.00\d+ LTC, which is more than the 0.0005 LTC that is paid/,
      );
    });

    it('A payout of more than the coins is refused, and the error says what there is', async () => {
      const merchant = await shop.merchant();
      await merchant.fund('0.2');
      await merchant.transfers('0.1', '0.095');
      // The owner has moved the coins by hand.
      const exported = await merchant.export();
      await shop.discard(exported.id);
      const waste = spendElsewhere({ merchant, exported, rows: [], first: '' });
      await node.rpc('sendrawtransaction', waste, 0);
      await node.mine(2);
      await shop.scan();
      await expect(merchant.export()).rejects.toThrow(
        /The coins are not enough: 0 LTC can be spent on Litecoin regtest, and this takes 0.195 LTC and a fee of about 0.000\d+ LTC/,
      );
    });

    it('An export with nothing to pay makes no PSBT, and says so', async () => {
      const merchant = await shop.merchant();
      const output = await shop.run(`transfers psbt export --network ${network} --merchant`, merchant.id);
      expect(output).toMatchObject({
        text: 'No transfer waits: there is nothing to sign',
        hasFailed: false,
      });
    });

    it('An export refuses dust, and pays the other transfers', async () => {
      const merchant = await shop.merchant();
      await merchant.fund('0.2');
      const [dust, fine] = await merchant.transfers('0.00002', '0.1');
      const exported = await merchant.export();
      expect(exported.transfers.map(({ id }) => id)).toEqual([fine?.id]);
      expect(exported.skipped.map(({ id }) => id)).toEqual([dust?.id]);
      expect(exported.skipped[0]?.reason).toContain(
        '0.00002 LTC is too little: nodes relay no output below 0.0000294 LTC',
      );
      await shop.import(merchant.sign(exported.psbt));
      await shop.confirm();
      expect((await shop.transfer(fine?.id ?? '')).status).toBe('success');
      expect(await merchant.export()).toMatchObject({ psbt: null, skipped: [{ id: dust?.id }] });
    });

    it.each([
      [
        { network: 'bitcoin' },
        /"bitcoin" is not a network of Bitcoin's kind in test mode. There are litecoin-regtest/,
      ],
      [{ key: 'none' }, /no test deposit key none for litecoin/],
      [{ fingerprint: 'xyz' }, /--fingerprint must be the eight hexadecimal digits/],
      [{ path: "m/84'/1'/0'" }, /--path needs --fingerprint/],
      [
        { fingerprint: '00c0ffee', path: "m/84'/1'/1'" },
        /has 3 steps below its master key, the last of which is 0'/,
      ],
      [{ fingerprint: '00c0ffee', path: 'm/x' }, /--path must be like/],
      [{ transfer: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }, /does not wait to be sent/],
    ])('An export is refused with %o', async (options, message) => {
      const merchant = await shop.merchant();
      await expect(merchant.export(options)).rejects.toThrow(message);
    });
  });

  it('A PSBT names the keys as a hardware wallet knows them, and is written to a new file', async () => {
    const merchant = await shop.merchant();
    await merchant.fund('0.2');
    const [row] = await merchant.transfers('0.1', '0.02');
    const output = shop.path('payout.psbt');
    const exported = await merchant.export({ fingerprint: '00C0FFEE', transfer: row?.id, output });
    const file = await shop.read('payout.psbt');
    expect(file.toString('base64')).toBe(exported.psbt);
    const psbt = Transaction.fromPSBT(file);
    const path = [84 + 2 ** 31, 1 + 2 ** 31, 2 ** 31];
    expect(psbt.getInput(0).bip32Derivation?.[0]?.[1]).toEqual({
      fingerprint: 0x00c0ffee,
      path: [...path, 0, 0],
    });
    expect(psbt.getInput(0).nonWitnessUtxo).toBeDefined();
    expect(psbt.getInput(0).sequence).toBe(0xfffffffd);
    expect(psbt.getOutput(1).bip32Derivation?.[0]?.[1]).toEqual({
      fingerprint: 0x00c0ffee,
      path: [...path, 1, 0],
    });
    await expect(merchant.export({ output })).rejects.toThrow('exists already');
    expect(exported.transfers).toHaveLength(1);
  });

  it('A payout spends the coins of a previous key on demand, and only then', async () => {
    const merchant = await shop.merchant();
    await merchant.fund('0.2');
    const rows = await merchant.transfers('0.1');
    const { depositKeys } = shop.server.app;
    const scope = { merchantId: merchant.id, mode: 'test' } as const;
    const other = await shop.merchant();
    await shop.server.database.write((transaction) =>
      depositKeys.set(
        transaction,
        scope,
        'litecoin',
        { extendedPublicKey: other.account.publicExtendedKey, script: 'p2wpkh' },
        true,
      ),
    );
    await expect(merchant.export()).rejects.toThrow('The coins are not enough: 0 LTC can be spent');
    const [previous] = await depositKeys.list(shop.server.database.reader, merchant.id);
    const exported = await merchant.export({ key: previous?.id });
    await shop.import(merchant.sign(exported.psbt));
    await shop.confirm();
    expect(await shop.statuses(rows)).toEqual(['success']);
  });

  describe('with a higher fee', () => {
    it('A version with a higher fee replaces the first one, and exactly one settles', async () => {
      const { merchant, exported, first } = await prepare();
      await shop.import(merchant.sign(exported.psbt));
      await expect(shop.bump(exported.id, '2.5')).rejects.toThrow(
        /--fee-rate 2.5 is too low: .* Give at least 3/,
      );
      const bumped = await shop.bump(exported.id, '12');
      expect(bumped.versions.map(({ number }) => number)).toEqual([1, 2]);
      expect(Number(bumped.versions[1]?.fee)).toBeGreaterThan(Number(bumped.versions[0]?.fee));
      expect(await mempool()).toContain(hashOf(bumped, 1));
      const imported = await shop.import(merchant.sign(bumped.psbt));
      expect(imported.isBroadcast).toBe(true);
      expect(await mempool()).toContain(hashOf(bumped, 2));
      expect(await mempool()).not.toContain(hashOf(bumped, 1));
      expect((await shop.transfer(first)).tx_hash).toBe(hashOf(bumped, 2));
      await shop.confirm();
      const shown = await shop.show(exported.id);
      expect(shown).toMatchObject({ state: 'settled', problem: null });
      expect(shown.versions.map(({ isSettled }) => isSettled)).toEqual([false, true]);
      expect(await postings(first)).toEqual(['hold', 'post']);
      await expect(shop.bump(exported.id, '50')).rejects.toThrow('The PSBT is settled');
      await shop.expectBooksInOrder();
    });

    it('The first version settles if a miner took it in place of the one with a higher fee', async () => {
      const { merchant, exported, first } = await prepare();
      await shop.import(merchant.sign(exported.psbt));
      const bumped = await shop.bump(exported.id, '20');
      await shop.import(merchant.sign(bumped.psbt));
      const own = await node.rpc<string>('getnewaddress');
      await node.rpc('generateblock', own, [await rawOf(hashOf(bumped, 1))]);
      await shop.confirm();
      const row = await shop.transfer(first);
      expect(row).toMatchObject({ status: 'success', tx_hash: hashOf(bumped, 1) });
      expect(Number(row.network_fee) / 1e8).toBe(Number(bumped.versions[0]?.fee));
      await shop.expectBooksInOrder();
    });

    it('An unsigned PSBT gets a higher fee, and only its second version is signed', async () => {
      const { merchant, exported, rows } = await prepare();
      const bumped = await shop.bump(exported.id, '6');
      await shop.import(merchant.sign(bumped.psbt));
      await shop.confirm();
      expect(await shop.statuses(rows)).toEqual(['success']);
    });

    it('A higher fee is refused if the change cannot pay it, or the PSBT is in a block', async () => {
      const { merchant, exported } = await prepare(['0.10005'], ['0.099']);
      await expect(shop.bump(exported.id, '960')).rejects.toThrow(
        /The coins of this PSBT cannot pay that: after the transfers, 0.00105 LTC is left for the fee/,
      );
      await shop.import(merchant.sign(exported.psbt));
      await node.mine(1);
      await expect(shop.bump(exported.id, '5')).rejects.toThrow('in a block already');
    });
  });

  describe('reorganised', () => {
    it('A transfer whose deposits are reorganised is named and left out until they are confirmed again', async () => {
      const merchant = await shop.merchant();
      await merchant.fund('0.4');
      await merchant.fund('0.5');
      const [row] = await merchant.transfers('0.8');
      await node.reorg(2, 'waiting');
      await shop.scan();
      const none = await merchant.export();
      expect(none.skipped).toMatchObject([
        { id: row?.id, reason: expect.stringMatching(/reverted deposits.* takes 0\.8/) as string },
      ]);
      await shop.confirm();
      const exported = await merchant.export();
      expect(exported.transfers.map(({ id }) => id)).toEqual([row?.id]);
      await shop.import(merchant.sign(exported.psbt));
      await shop.confirm();
      expect((await shop.transfer(row?.id ?? '')).status).toBe('success');
      await shop.expectBooksInOrder();
    });

    it('A PSBT that is reorganised after it was settled is reported, confirmed again, and not settled twice', async () => {
      const { merchant, exported, first } = await prepare();
      await shop.import(merchant.sign(exported.psbt));
      await shop.confirm();
      expect((await shop.show(exported.id)).state).toBe('settled');
      await node.reorg(2, 'waiting');
      await shop.scan();
      await shop.follow();
      expect((await shop.show(exported.id)).problem).toMatch(
        'dropped its transaction (version 1) after it was settled',
      );
      expect((await shop.transfer(first)).status).toBe('success');
      await shop.confirm();
      expect(await shop.show(exported.id)).toMatchObject({ state: 'settled', problem: null });
      expect(await postings(first)).toEqual(['hold', 'post']);
      await shop.expectBooksInOrder();
    });

    it('A PSBT that is reorganised and forgotten by the mempool is sent again', async () => {
      const { merchant, exported, first } = await prepare(['0.5'], [elsewhereTo]);
      await shop.import(merchant.sign(exported.psbt));
      await shop.confirm();
      await node.reorg(2, 'waiting');
      await node.kill();
      await rm(join(node.directory, 'regtest', 'mempool.dat'), { force: true });
      await node.start();
      await shop.follow();
      expect(await mempool()).toContain(hashOf(exported, 1));
      expect((await shop.show(exported.id)).problem).toMatch('It was sent again');
      await shop.confirm();
      expect(await shop.show(exported.id)).toMatchObject({ state: 'settled', problem: null });
      expect(await postings(first)).toEqual(['hold', 'post']);
      await shop.expectBooksInOrder();
    });

    it('If another version is confirmed after a reorganisation, the books have its fee', async () => {
      const { merchant, exported, first } = await prepare();
      await shop.import(merchant.sign(exported.psbt));
      const bumped = await shop.bump(exported.id, '20');
      await shop.import(merchant.sign(bumped.psbt));
      const own = await node.rpc<string>('getnewaddress');
      await node.rpc('generateblock', own, [await rawOf(hashOf(bumped, 1))]);
      await shop.confirm();
      expect((await shop.transfer(first)).tx_hash).toBe(hashOf(bumped, 1));
      const lowest = await node.rpc<string>('getblockhash', (await node.rpc<number>('getblockcount')) - 2);
      await node.rpc('invalidateblock', lowest);
      await node.rpc('generateblock', await node.rpc<string>('getnewaddress'), [
        await rawOf(hashOf(bumped, 2)),
      ]);
      await shop.confirm(3);
      const row = await shop.transfer(first);
      expect(row).toMatchObject({ status: 'success', tx_hash: hashOf(bumped, 2) });
      expect(Number(row.network_fee) / 1e8).toBe(Number(bumped.versions[1]?.fee));
      expect(await postings(first)).toEqual(['hold', 'network-fee', 'post']);
      const shown = await shop.show(exported.id);
      expect(shown.versions.map(({ isSettled }) => isSettled)).toEqual([false, true]);
      await shop.expectBooksInOrder();
    });

    it('A PSBT that is reorganised and double spent gives back what it did not pay', async () => {
      const prepared = await prepare();
      const { merchant, exported, first } = prepared;
      const { app, database } = shop.server;
      const scope = { merchantId: merchant.id, mode: 'test' } as const;
      await database.write((transaction) =>
        app.endpoints.set(transaction, scope, 'http://127.0.0.1:9/webhooks'),
      );
      const elsewhere = spendElsewhere(prepared);
      await shop.import(merchant.sign(exported.psbt));
      await shop.confirm();
      const ours = await rawOf(hashOf(exported, 1));
      const height = await node.rpc<number>('getblockcount');
      const lowest = await node.rpc<string>('getblockhash', height - 1);
      await node.rpc('invalidateblock', lowest);
      await node.rpc('generateblock', await node.rpc<string>('getnewaddress'), [elsewhere]);
      await shop.confirm();
      const shown = await shop.show(exported.id);
      expect(shown.state).toBe('conflicted');
      expect(shown.problem).toContain('spent by another transaction');
      expect((await shop.transfer(first)).status).toBe('failed');
      expect(await postings(first)).toEqual(['hold', 'lost', 'post']);
      const events = database.reader.selectFrom('outbox').select('type').where('subject_id', '=', first);
      expect(await events.orderBy('sequence').execute()).toEqual([
        { type: 'transfer.success' },
        { type: 'transfer.failed' },
      ]);
      await shop.expectBooksInOrder();
      // And once more the other way: the returned transfer has been paid after all.
      await node.rpc('invalidateblock', await node.rpc<string>('getblockhash', height - 1));
      await node.rpc('generateblock', await node.rpc<string>('getnewaddress'), [ours]);
      await shop.confirm(4);
      await shop.follow();
      expect(await shop.transfer(first)).toMatchObject({ status: 'success', failure_reason: null });
      expect(await postings(first)).toEqual(['back', 'hold', 'lost', 'post', 'post']);
      expect((await shop.show(exported.id)).problem).toContain('so it is success now');
      await shop.expectBooksInOrder();
    });

    it('A PSBT that is contested by another that waits is followed until it is confirmed again, and then in order', async () => {
      const prepared = await prepare();
      const { merchant, exported } = prepared;
      const elsewhere = spendElsewhere(prepared, 5_000_000n);
      await shop.import(merchant.sign(exported.psbt));
      await shop.confirm();
      const ours = await rawOf(hashOf(exported, 1));
      const lowest = await node.rpc<string>('getblockhash', (await node.rpc<number>('getblockcount')) - 1);
      await node.rpc('invalidateblock', lowest);
      await node.rpc('sendrawtransaction', elsewhere, 0);
      await shop.follow();
      expect((await shop.show(exported.id)).problem).toContain('Another transaction that waits');
      await node.rpc('generateblock', await node.rpc<string>('getnewaddress'), [ours]);
      await shop.confirm();
      await shop.follow();
      expect(await shop.show(exported.id)).toMatchObject({ state: 'settled', problem: null });
      await shop.expectBooksInOrder();
    });
  });

  it('A PSBT is broadcast again after the mempool has lost it', async () => {
    const { merchant, exported, rows } = await prepare(['0.5'], [elsewhereTo]);
    await shop.import(merchant.sign(exported.psbt));
    await node.kill();
    await rm(join(node.directory, 'regtest', 'mempool.dat'), { force: true });
    await node.start();
    await shop.follow();
    expect(await mempool()).toContain(hashOf(exported, 1));
    await shop.confirm();
    expect(await shop.statuses(rows)).toEqual(['success']);
  });

  it('A signed PSBT is stored while no node answers, and broadcast when one does', async () => {
    const { merchant, exported, rows } = await prepare(['0.5'], [elsewhereTo]);
    await node.kill();
    const imported = await shop.import(merchant.sign(exported.psbt));
    expect(imported).toMatchObject({ state: 'sent', isBroadcast: false });
    await shop.follow();
    expect(await shop.statuses(rows)).toEqual(['processing']);
    await node.start();
    await shop.confirm();
    await shop.confirm();
    expect(await shop.statuses(rows)).toEqual(['success']);
  });

  describe('A PSBT whose coins are spent elsewhere', () => {
    it('A PSBT whose coins are spent elsewhere is reported, and its transfers can be paid with other coins', async () => {
      const prepared = await prepare(['0.5', '0.3']);
      const { merchant, exported, rows } = prepared;
      const elsewhere = spendElsewhere(prepared);
      await shop.import(merchant.sign(exported.psbt));
      const own = await node.rpc<string>('getnewaddress');
      await node.rpc('generateblock', own, [elsewhere]);
      await shop.follow();
      expect((await shop.show(exported.id)).problem).toMatch(
        /spent by another transaction, [0-9a-f]{64}, in block/,
      );
      await expect(shop.discard(exported.id)).rejects.toThrow('the network can confirm it at any time');
      await shop.confirm(1);
      expect(await shop.show(exported.id)).toMatchObject({ state: 'conflicted' });
      expect(await shop.statuses(rows)).toEqual(['processing']);
      await expect(shop.import(merchant.sign(exported.psbt))).rejects.toThrow('can no longer be sent');
      await shop.discard(exported.id);
      expect(await shop.statuses(rows)).toEqual(['pending']);
      const again = await merchant.export();
      expect(again.inputs).not.toEqual(exported.inputs);
      await shop.import(merchant.sign(again.psbt));
      await shop.confirm();
      expect(await shop.statuses(rows)).toEqual(['success']);
      await shop.expectBooksInOrder();
    });

    it('A transfer that another transaction of the PSBT’s coins paid can be settled with it, and is not paid again', async () => {
      const prepared = await prepare(['0.5', '0.3'], ['0.1', '0.05']);
      const { merchant, exported, rows, first } = prepared;
      // The owner has paid the first transfer with another wallet program, which knew nothing of the PSBT.
      const original = opened(exported.psbt);
      const { txid, index } = original.getInput(0);
      const spent = [Buffer.from(txid ?? []).toString('hex'), index] as const;
      const { value } = await node.rpc<{ value: number }>('gettxout', ...spent);
      const signed = merchant.signOther([exported], [original.getOutput(0)]);
      await node.rpc('generateblock', await node.rpc<string>('getnewaddress'), [signed.hex]);
      const block = String(await node.rpc<number>('getblockcount'));
      await shop.confirm();
      const { state, problem } = await shop.show(exported.id);
      expect(state).toBe('conflicted');
      expect(problem).toContain(`--tx-hash ${signed.id} --block ${block}`);
      const settle = `transfers settle --tx-hash ${signed.id} --block ${block}`;
      // Litecoin Core shows the inputs only with txindex=1.
      await expect(shop.run(settle, first)).rejects.toThrow('network-fee: Required');
      await shop.run(`${settle} --network-fee ${(value - 0.1).toFixed(8)}`, first);
      await shop.discard(exported.id);
      expect(await shop.statuses(rows)).toEqual(['success', 'pending']);
      const again = await merchant.export();
      expect(again.transfers.map(({ id }) => id)).toEqual([rows[1]?.id]);
      await shop.import(merchant.sign(again.psbt));
      await shop.confirm();
      expect(await shop.statuses(rows)).toEqual(['success', 'success']);
      await shop.expectBooksInOrder();
    });

    it('A transaction of the wallet itself, which raised the fee and paid the same, settles the transfers', async () => {
      const { merchant, exported, rows, first } = await prepare();
      await shop.import(merchant.sign(exported.psbt));
      const original = opened(exported.psbt);
      const { script = new Uint8Array(), amount = 0n } = original.getOutput(1);
      const signed = merchant.signOther(
        [exported],
        [original.getOutput(0), { script, amount: amount - 50_000n }],
      );
      const hash = await node.rpc<string>('sendrawtransaction', signed.hex, 0);
      await shop.follow();
      expect((await shop.show(exported.id)).problem).toMatch(
        'If the wallet has raised the fee on its own, wait',
      );
      await shop.confirm();
      await shop.follow();
      expect(await shop.statuses(rows)).toEqual(['success']);
      const row = await shop.transfer(first);
      expect(row.tx_hash).toBe(hash);
      expect(Number(row.network_fee)).toBe(Math.round(Number(exported.versions[0]?.fee) * 1e8) + 50_000);
      await shop.expectBooksInOrder();
    });
  });

  it.each(['p2wpkh', 'p2sh-p2wpkh', 'p2pkh'] as const)(
    'A PSBT that the wallet itself broadcast, without an import, is noticed: %s',
    async (script) => {
      const merchant = await shop.merchant(script);
      await merchant.fund('0.2');
      const rows = await merchant.transfers('0.1');
      const exported = await merchant.export();
      const signed = Transaction.fromPSBT(Buffer.from(merchant.sign(exported.psbt), 'base64'));
      signed.finalize();
      const hash = await node.rpc<string>('sendrawtransaction', signed.hex, 0);
      const refused = script === 'p2pkh' ? 'may have been broadcast' : 'signed and was broadcast';
      await expect(shop.discard(exported.id)).rejects.toThrow(refused);
      await shop.confirm();
      expect((await shop.transfer(rows[0]?.id ?? '')).tx_hash).toBe(hash);
      expect(await shop.statuses(rows)).toEqual(['success']);
      await shop.expectBooksInOrder();
    },
  );

  describe('discarded', () => {
    it('A discarded PSBT frees its transfers and coins, and cannot be imported any more', async () => {
      const { merchant, exported, rows } = await prepare(['0.5', '0.4']);
      await shop.discard(exported.id);
      expect(await shop.discard(exported.id)).toMatchObject({ state: 'discarded' });
      await expect(shop.import(merchant.sign(exported.psbt))).rejects.toThrow('was discarded');
      const again = await merchant.export();
      expect(again.transfers.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
      expect(again.inputs).toEqual(exported.inputs);
    });

    it('A discarded PSBT never pays twice: a later payment of its transfers spends one of its coins', async () => {
      const { merchant, exported, rows } = await prepare(['0.2', '0.2'], ['0.1']);
      await shop.discard(exported.id);
      // By size, these coins would be chosen.
      await merchant.fund('0.9', '0.8');
      await merchant.transfers('1.0');
      const again = await merchant.export();
      expect(again.inputs.map(({ txHash }) => txHash)).toContain(exported.inputs[0]?.txHash);
      await shop.import(merchant.sign(again.psbt));
      const late = Transaction.fromPSBT(Buffer.from(merchant.sign(exported.psbt), 'base64'));
      late.finalize();
      await shop.confirm();
      await expect(node.rpc('sendrawtransaction', late.hex, 0)).rejects.toThrow('missingorspent');
      expect(await shop.statuses(rows)).toEqual(['success']);
      await shop.expectBooksInOrder();
    });

    it('A reorganisation makes a coin of a PSBT unsure: nothing else pays its transfers until it is sure again', async () => {
      const merchant = await shop.merchant();
      await merchant.fund('0.15');
      await merchant.fund('0.2');
      const rows = await merchant.transfers('0.1');
      const exported = await merchant.export();
      await shop.discard(exported.id);
      await node.reorg(2, 'waiting');
      const reason = 'which can still be broadcast, and none of its coins is free and confirmed 2 times';
      const refused = { psbt: null, skipped: [{ reason: expect.stringContaining(reason) as string }] };
      expect(await merchant.export()).toMatchObject(refused);
      await shop.scan();
      expect(await merchant.export()).toMatchObject(refused);
      await shop.confirm(1);
      expect(await merchant.export()).toMatchObject(refused);
      await shop.confirm(1);
      const again = await merchant.export();
      expect(again.inputs).toEqual(exported.inputs);
      await shop.import(merchant.sign(again.psbt));
      await shop.confirm();
      expect(await shop.statuses(rows)).toEqual(['success']);
      await shop.expectBooksInOrder();
    });

    it('A discarded PSBT whose coins are spent elsewhere is followed no longer, and once that is final its transfers are paid with other coins', async () => {
      const prepared = await prepare(['0.2', '0.15'], ['0.1']);
      const { merchant, exported, rows } = prepared;
      const final = async () =>
        (
          await shop.server.database.reader
            .selectFrom('psbts')
            .select('confirmed_at')
            .where('id', '=', exported.id)
            .executeTakeFirstOrThrow()
        ).confirmed_at !== null;
      await shop.discard(exported.id);
      const elsewhere = spendElsewhere(prepared);
      await node.rpc('generateblock', await node.rpc<string>('getnewaddress'), [elsewhere]);
      expect(await merchant.export()).toMatchObject({
        psbt: null,
        skipped: [{ reason: expect.stringContaining('Try again when that is confirmed') as string }],
      });
      expect(await final()).toBe(false);
      await shop.confirm(1);
      expect(await final()).toBe(true);
      const again = await merchant.export();
      expect(again.inputs).not.toEqual(exported.inputs);
      await shop.import(merchant.sign(again.psbt));
      await shop.confirm();
      expect(await shop.statuses(rows)).toEqual(['success']);
    });

    it('A discarded PSBT that is broadcast anyway pays, and the one that took its place does not', async () => {
      const { merchant, exported, rows, first } = await prepare(['0.2', '0.2'], ['0.1']);
      await shop.discard(exported.id);
      const again = await merchant.export({ 'fee-rate': '3' });
      const late = Transaction.fromPSBT(Buffer.from(merchant.sign(exported.psbt), 'base64'));
      late.finalize();
      await node.rpc('sendrawtransaction', late.hex, 0);
      await shop.confirm();
      await shop.confirm(1);
      expect(await shop.show(exported.id)).toMatchObject({ state: 'settled' });
      expect(await shop.show(again.id)).toMatchObject({ state: 'conflicted' });
      expect(await shop.statuses(rows)).toEqual(['success']);
      await shop.discard(again.id);
      expect(await shop.statuses(rows)).toEqual(['success']);
      expect(await postings(first)).toEqual(['hold', 'post']);
      expect(await merchant.export()).toMatchObject({ psbt: null });
      await shop.expectBooksInOrder();
    });

    it('A discarded PSBT that is broadcast after its transfers had failed makes them succeed, and is reported', async () => {
      const { merchant, exported, rows, first } = await prepare();
      await shop.discard(exported.id);
      await shop.run('transfers fail --reason no', first);
      expect(await shop.statuses(rows)).toEqual(['failed']);
      // The money given back is withdrawn meanwhile, so that the merchant owes it.
      await merchant.transfers('0.39');
      const late = Transaction.fromPSBT(Buffer.from(merchant.sign(exported.psbt), 'base64'));
      late.finalize();
      await node.rpc('sendrawtransaction', late.hex, 0);
      await shop.confirm();
      expect(await shop.transfer(first)).toMatchObject({
        status: 'success',
        tx_hash: late.id,
        failure_reason: null,
      });
      expect(await postings(first)).toEqual(['hold', 'post', 'undo', 'void']);
      const problem = `It has paid ${first} although it had failed, so it is success now`;
      expect(await shop.show(exported.id)).toMatchObject({ state: 'settled', problem });
      const status = await shop.run('chains status');
      expect(status.hasFailed).toBe(true);
      expect(status.text).toContain(`test  ${network}  PSBT ${exported.id}: ${problem}`);
      await shop.expectBooksInOrder();
      const total =
        50_000_000n - BigInt(rows[0]?.amount ?? 0) - BigInt(Number(exported.versions[0]?.fee) * 1e8);
      expect(await shop.custody(merchant.id)).toBe(total);
    });

    it('A discarded PSBT that is broadcast after its transfer was settled with another transaction is booked as one more transfer and reported, once, also after a reorganisation', async () => {
      const { merchant, exported, first } = await prepare();
      await shop.discard(exported.id);
      await shop.run(`transfers settle --tx-hash ${'ab'.repeat(32)} --network-fee 0 --unverified`, first);
      // So that the merchant has less than was paid twice, and owes the rest.
      await merchant.transfers('0.35');
      const late = Transaction.fromPSBT(Buffer.from(merchant.sign(exported.psbt), 'base64'));
      late.finalize();
      await node.rpc('sendrawtransaction', late.hex, 0);
      await shop.confirm();
      const [second = '', ...others] = await transfersWith(late.id);
      expect(others).toEqual([]);
      expect(second).not.toBe(first);
      const problem = `It has paid ${first} a second time, which is booked as the transfer ${second}: compare them with the wallet`;
      expect(await shop.show(exported.id)).toMatchObject({ state: 'settled', problem });
      expect((await shop.transfer(first)).tx_hash).toBe('ab'.repeat(32));
      const left = 50_000_000n - 20_000_000n - BigInt(Math.round(Number(exported.versions[0]?.fee) * 1e8));
      expect(await shop.custody(merchant.id)).toBe(left);
      await shop.expectBooksInOrder();
      await node.reorg(2, 'waiting');
      await shop.follow();
      expect((await shop.show(exported.id)).problem).toMatch(`${problem}. The chain has dropped`);
      await shop.confirm();
      await shop.confirm();
      expect(await shop.show(exported.id)).toMatchObject({ state: 'settled', problem });
      expect(await transfersWith(late.id)).toEqual([second]);
      expect(await postings(second)).toEqual(['hold', 'post']);
      await shop.expectBooksInOrder();
    });

    it('A discarded PSBT that is mined in place of the settled one pays the transfer, which is paid once', async () => {
      const { merchant, exported, first } = await prepare();
      await shop.discard(exported.id);
      const again = await merchant.export({ 'fee-rate': '3' });
      await shop.import(merchant.sign(again.psbt));
      await shop.confirm();
      expect((await shop.transfer(first)).tx_hash).toBe(hashOf(again, 1));
      const lowest = await node.rpc<string>('getblockhash', (await node.rpc<number>('getblockcount')) - 1);
      await node.rpc('invalidateblock', lowest);
      const late = Transaction.fromPSBT(Buffer.from(merchant.sign(exported.psbt), 'base64'));
      late.finalize();
      await node.rpc('generateblock', await node.rpc<string>('getnewaddress'), [late.hex]);
      await shop.confirm();
      await shop.follow();
      expect(await shop.transfer(first)).toMatchObject({ status: 'success', tx_hash: late.id });
      expect(await shop.show(exported.id)).toMatchObject({ state: 'settled', problem: null });
      expect(await shop.show(again.id)).toMatchObject({ state: 'conflicted' });
      expect(await transfersWith(late.id)).toEqual([first]);
      expect(await postings(first)).toEqual(['hold', 'network-fee', 'post']);
      await shop.expectBooksInOrder();
    });

    it('A discarded PSBT that is broadcast before anything took its place is not exported again', async () => {
      const { merchant, exported, rows } = await prepare();
      await shop.discard(exported.id);
      const late = Transaction.fromPSBT(Buffer.from(merchant.sign(exported.psbt), 'base64'));
      late.finalize();
      await node.rpc('sendrawtransaction', late.hex, 0);
      const next = await merchant.export();
      expect(next).toMatchObject({ psbt: null });
      expect(next.skipped[0]?.reason).toMatch('was broadcast after all, and pays it');
      await shop.confirm();
      expect(await shop.statuses(rows)).toEqual(['success']);
      await shop.expectBooksInOrder();
    });
  });

  describe('A PSBT of all coins, when none is left for the fee', () => {
    async function emptyWallet(...amounts: string[]) {
      const merchant = await shop.merchant();
      await shop.command('merchants update', merchant.id, '--fee-basis-points', '0');
      await merchant.fund('0.3', '0.2');
      const rows = await merchant.transfers(...amounts);
      return { merchant, rows, exported: await merchant.export() };
    }
    const receivedBy = async (address: string) =>
      BigInt(Math.round((await node.rpc<number>('getreceivedbyaddress', address, 1)) * 1e8));

    it('A PSBT of all coins takes the fee out of the largest transfer, and says so in the export and in the books', async () => {
      const { merchant, rows, exported } = await emptyWallet('0.1', '0.4');
      const [small, large] = rows;
      if (!small || !large) throw new Error('There are two transfers');
      expect(exported).toMatchObject({ changePath: null, inputs: [{}, {}] });
      const fee = BigInt(Math.round(Number(exported.versions[0]?.fee) * 1e8));
      const left = 40_000_000n - fee;
      expect(exported.transfers).toMatchObject([
        { id: small.id, amount: '0.1', bearsFee: false },
        { id: large.id, amount: fromUnits(left, 8), bearsFee: true },
      ]);
      const shown = await shop.run('transfers psbt show', exported.id);
      expect(shown.text).toContain('the fee is taken out of it, because no coin is left to pay it');
      await shop.import(merchant.sign(exported.psbt));
      await shop.confirm();
      expect(await receivedBy(small.address)).toBe(10_000_000n);
      expect(await receivedBy(large.address)).toBe(left);
      expect(await shop.transfer(large.id)).toMatchObject({
        status: 'success',
        amount: left,
        fee,
      });
      expect(await merchant.ask('GET', `/v1/transfers/${large.id}`)).toMatchObject({
        amount: Number(left) / 1e8,
        fee: Number(fee) / 1e8,
      });
      expect(await shop.custody(merchant.id)).toBe(0n);
      await shop.expectBooksInOrder();
    });

    it('The last payout is reduced by the cost of an earlier one', async () => {
      const { merchant, exported } = await emptyWallet('0.25');
      await shop.import(merchant.sign(exported.psbt));
      const [last] = await merchant.transfers('0.25');
      // The change of the first one is not confirmed yet.
      await expect(merchant.export()).rejects.toThrow('The coins are not enough');
      await shop.confirm();
      const second = await merchant.export();
      await shop.import(merchant.sign(second.psbt));
      await shop.confirm();
      const fees = [exported, second].reduce((sum, { versions }) => sum + Number(versions[0]?.fee), 0);
      expect(await receivedBy(last?.address ?? '')).toBe(25_000_000n - BigInt(Math.round(fees * 1e8)));
      expect(await shop.custody(merchant.id)).toBe(0n);
      await shop.expectBooksInOrder();
    });

    it('A PSBT of all coins can be bumped, and keeps the books right whichever version the chain takes', async () => {
      const { merchant, rows, exported } = await emptyWallet('0.5');
      const [row] = rows;
      await shop.import(merchant.sign(exported.psbt));
      const bumped = await shop.bump(exported.id, '20');
      await shop.import(merchant.sign(bumped.psbt));
      const own = await node.rpc<string>('getnewaddress');
      await node.rpc('generateblock', own, [await rawOf(hashOf(bumped, 1))]);
      await shop.confirm();
      expect(await shop.transfer(row?.id ?? '')).toMatchObject({ tx_hash: hashOf(bumped, 1) });
      await shop.expectBooksInOrder();
      const lowest = await node.rpc<string>('getblockhash', (await node.rpc<number>('getblockcount')) - 2);
      await node.rpc('invalidateblock', lowest);
      await node.rpc('generateblock', await node.rpc<string>('getnewaddress'), [
        await rawOf(hashOf(bumped, 2)),
      ]);
      await shop.confirm(3);
      const settled = await shop.transfer(row?.id ?? '');
      expect(settled).toMatchObject({ status: 'success', tx_hash: hashOf(bumped, 2) });
      expect(await receivedBy(settled.address)).toBe(settled.amount);
      expect(settled.amount + settled.fee).toBe(50_000_000n);
      expect(await shop.custody(merchant.id)).toBe(0n);
      await shop.expectBooksInOrder();
    });
  });

  it('A PSBT is listed, and the audit log has its export, its bump and its import', async () => {
    const merchant = await shop.merchant();
    await merchant.fund('0.2');
    await merchant.transfers('0.1');
    const exported = await merchant.export();
    const bumped = await shop.bump(exported.id, '4');
    await shop.import(merchant.sign(bumped.psbt));
    const listed = await shop.run('transfers psbt list --merchant', merchant.id);
    expect(listed.json).toMatchObject([{ id: exported.id, state: 'sent', network }]);
    expect(listed.text).toContain(`${exported.id}  test  ${network}  sent`);
    const entries = await shop.server.app.auditLog.list(shop.server.database.reader, {
      merchantId: merchant.id,
    });
    const actions = entries.filter(({ action }) => action.startsWith('psbt.')).map(({ action }) => action);
    expect(actions).toEqual(['psbt.exported', 'psbt.bumped', 'psbt.imported']);
  });
});
