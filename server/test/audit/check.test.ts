/** The ledger check finds every kind of tampering, under the right invariant, on both engines. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/core/audit/check.js';
import type { LedgerCheck } from '../../src/core/audit/check-report.js';
import { enginesOfTurn } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop, externalAddresses, type Shop } from '../support/shop.js';
import type { Transaction } from '../../src/core/db/engine.js';

/** Rolls back a transaction. */
class Undo extends Error {
  override readonly name = 'Undo';
}

describe.each(enginesOfTurn)('the ledger check, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let success: string;
  let failed: string;
  let pending: string;
  let bankPayout: string;
  let refund: string;

  beforeAll(async () => {
    server = await startServer({
      engine,
      overrides: { paidByOperator: ['tron'] },
    });
    merchant = openShop(server);
    const { id: paid } = await merchant.fund({ amount: 100 });
    const made = () => merchant.refund(paid, { kind: 'partial', amount: 2 });
    ({ id: refund } = await made());
    await merchant.ask('POST', `/v1/refunds/${(await made()).id}/cancel`);
    await merchant.fund({ network: 'bsc', amount: 100 });
    const { address } = await merchant.lock();
    await merchant.pay(address, 1);
    const onBsc = { walletAddress: externalAddresses.evm, walletNetwork: 'bsc' };
    ({ id: success } = await merchant.withdraw(onBsc));
    await merchant.until(success, 'success', 'bsc');
    ({ id: failed } = await merchant.withdraw({ ...onBsc, walletAddress: `0x${'0'.repeat(40)}` }));
    await merchant.until(failed, 'failed', 'bsc');
    ({ id: pending } = await merchant.withdraw());
    const account = await merchant.ask<{ id: string }>('POST', '/v1/bank-accounts', {
      body: {
        accountNumber: '0690000032',
        accountBank: '044',
        country: 'NG',
        currency: 'NGN',
        accountName: 'Ada Example',
      },
    });
    const payout = (await merchant.command(
      ...['payouts', 'create', '--merchant', server.bootstrapped.merchantId, '--mode', 'test'],
      ...['--bank-account', account.id, '--amount', '5', '--currency', 'USDT', '--reference', 'settlement'],
    )) as { id: string };
    bankPayout = payout.id;
  });
  afterAll(() => server.stop());

  it('the ledger check finds no violations in sound books, and reports how many records it checked', async () => {
    const checks = (await merchant.command('ledger', 'check')) as LedgerCheck[];
    expect(checks).toHaveLength(17);
    for (const check of checks) expect(check).toMatchObject({ violations: [] });
    const empty = checks.filter(({ checked }) => checked === 0).map(({ invariant }) => invariant);
    expect(empty).toEqual([
      'Gas is what the transactions of gas keys cost',
      'Every address of a treasury that holds money is marked for the sweeps',
      'Every coin that is not spent is marked for the payouts by PSBT',
    ]);
  });

  type Tamper = (transaction: Transaction) => Promise<unknown>;
  const posting = (transaction: Transaction, key: string) =>
    transaction.selectFrom('ledger_postings').select('id').where('key', '=', key).executeTakeFirstOrThrow();
  const account = (kind: string): Tamper => {
    return (transaction) =>
      transaction
        .updateTable('ledger_accounts')
        .set({ balance: '-1' })
        .where('id', 'like', `test/USDT/${kind}%`)
        .execute();
  };
  const removePosting =
    (key: () => string): Tamper =>
    async (transaction) => {
      const { id } = await posting(transaction, key());
      await transaction.deleteFrom('ledger_entries').where('posting_id', '=', id).execute();
      await transaction.deleteFrom('ledger_postings').where('id', '=', id).execute();
    };
  const addPosting =
    (key: () => string): Tamper =>
    (transaction) =>
      transaction
        .insertInto('ledger_postings')
        .values({ id: 'x', key: key(), mode: 'test', currency: 'USDT', payment_id: null, created_at: 0 })
        .execute();
  const setTransfer =
    (id: () => string, change: { status?: 'pending' | 'success' | 'failed'; amount?: string }): Tamper =>
    (transaction) =>
      transaction.updateTable('transfers').set(change).where('id', '=', id()).execute();

  const balanced = 'Debits equal credits in every posting';
  const assets = 'Debits equal credits in total, for each currency';
  const balances = 'Every balance is the sum of its entries';
  const signs = 'Available and reserved are not negative, and debts are not positive';
  const receipts = 'Every confirmed receipt is posted once, and every lost one is reversed';
  const unallocated = 'Unallocated is what was received but not yet credited';
  const settlements = 'Every successful payment has one settlement';
  const transfers = 'Every transfer has one hold, one post or void once it has ended, and a matching payout';
  const reserved = 'Reserved is the sum of the open holds';
  const refunds =
    'Every refund has one hold, given back if it ended before its approval, and then a transfer like it';
  const custody = 'Custody is what was received less what was sent, by network and merchant';
  const fees = 'Fee income is the fees of all credited receipts and sent transfers';
  const merchants = 'Available, reserved and debts are what was credited less what was paid out';
  const banks = 'Every payout to a bank is posted once, and returned once if it failed';

  const rows: readonly (readonly [string, readonly string[], Tamper])[] = [
    [
      'an entry is changed',
      [balanced, assets, balances],
      async (transaction) => {
        const { id } = await posting(transaction, `hold:${pending}`);
        const hold = transaction.updateTable('ledger_entries').where('posting_id', '=', id);
        await hold.where('debit', '<>', '0').set({ debit: '1' }).execute();
      },
    ],
    [
      'a posting spans two modes',
      [assets],
      (transaction) =>
        transaction
          .updateTable('ledger_postings')
          .set({ mode: 'live' })
          .where('key', '=', `hold:${pending}`)
          .execute(),
    ],
    ['a posting has no entries', [balanced], addPosting(() => 'empty')],
    ['an available balance is negative', [balances, signs, merchants], account('available')],
    ['a custody balance is wrong', [balances, custody], account('custody')],
    [
      'a reserved balance does not match its holds',
      [balances, signs, reserved, merchants],
      account('reserved'),
    ],
    [
      'a debt is positive',
      [signs, balances, merchants],
      (transaction) =>
        transaction
          .insertInto('ledger_accounts')
          .values({
            id: 'test/USDT/unallocated/x/debt',
            mode: 'test',
            kind: 'unallocated',
            currency: 'USDT',
            network: null,
            merchant_id: 'x',
            balance: '5',
          })
          .execute(),
    ],
    [
      'a credited receipt is no longer confirmed',
      [receipts, unallocated, custody],
      (transaction) =>
        transaction.updateTable('receipts').set({ status: 'seen' }).where('is_credited', '=', 0).execute(),
    ],
    ['the receipt of a posting does not exist', [balanced, receipts], addPosting(() => 'receipt:nothing')],
    [
      'a receipt is marked as credited',
      [unallocated, merchants],
      (transaction) => transaction.updateTable('receipts').set({ is_credited: 1 }).execute(),
    ],
    [
      'the fee of a receipt is changed',
      [fees, merchants],
      (transaction) =>
        transaction.updateTable('receipts').set({ credited_fee: '7' }).where('is_credited', '=', 1).execute(),
    ],
    ['the fee income is wrong', [balances, fees], account('fee_income')],
    [
      'a transfer was lost without an undone post',
      [transfers, custody, fees, merchants],
      (transaction) =>
        transaction.updateTable('transfers').set({ status: 'failed' }).where('id', '=', success).execute(),
    ],
    [
      'a payment is marked as settled',
      [settlements],
      (transaction) =>
        transaction.updateTable('payments').set({ settled_at: 1 }).where('settled_at', 'is', null).execute(),
    ],
    [
      'a settled payment is no longer marked as settled',
      [settlements],
      (transaction) => transaction.updateTable('payments').set({ settled_at: null }).execute(),
    ],
    ['a hold is missing', [transfers, balances], removePosting(() => `hold:${pending}`)],
    ['a post is missing', [transfers, balances], removePosting(() => `post:${success}`)],
    ['a void is missing', [transfers, balances], removePosting(() => `void:${failed}`)],
    ['a hold has no transfer', [balanced, transfers], addPosting(() => 'hold:nothing')],
    [
      'the amount of a transfer is changed',
      [transfers, reserved],
      setTransfer(() => pending, { amount: '1' }),
    ],
    [
      'a transfer is marked as a success',
      [transfers, reserved, custody, fees, merchants],
      setTransfer(() => pending, { status: 'success' }),
    ],
    [
      'a successful transfer is marked as pending',
      [transfers, reserved, custody, fees, merchants],
      setTransfer(() => success, { status: 'pending' }),
    ],
    [
      'a payout differs from its transfer',
      [transfers],
      (transaction) =>
        transaction.updateTable('payouts').set({ amount: '1' }).where('transfer_id', '=', success).execute(),
    ],
    [
      'a payout is still processing when its transfer has ended',
      [transfers],
      (transaction) =>
        transaction
          .updateTable('payouts')
          .set({ status: 'processing' })
          .where('transfer_id', '=', success)
          .execute(),
    ],
    ['a refund has reserved nothing', [refunds, balances], removePosting(() => `refund-hold:${refund}`)],
    [
      'a refund ended, and gave nothing back',
      [refunds, reserved],
      (transaction) =>
        transaction.updateTable('refunds').set({ status: 'expired' }).where('id', '=', refund).execute(),
    ],
    [
      'a refund is marked as paid without a transfer',
      [refunds, reserved],
      (transaction) =>
        transaction.updateTable('refunds').set({ status: 'paid' }).where('id', '=', refund).execute(),
    ],
    ['a payout to a bank is not posted', [banks, balances], removePosting(() => `bank:${bankPayout}`)],
    [
      'a payout to a bank is returned without having failed',
      [balanced, banks],
      addPosting(() => `bank-return:${bankPayout}`),
    ],
    [
      'a payout to a bank is marked as failed',
      [banks, merchants],
      (transaction) =>
        transaction.updateTable('payouts').set({ status: 'failed' }).where('id', '=', bankPayout).execute(),
    ],
  ];

  it.each(rows)('the ledger check finds that %s', async (_what, invariants, tamper) => {
    let found: string[] = [];
    const tampering = server.database.write(async (transaction) => {
      await tamper(transaction);
      found = (await checkLedger(transaction))
        .filter(({ violations }) => violations.length > 0)
        .map(({ invariant }) => invariant);
      throw new Undo();
    });
    await expect(tampering).rejects.toThrow(Undo);
    expect(found.sort()).toEqual([...invariants].sort());
  });

  it('the ledger check command fails if it finds a violation, and lists it', async () => {
    const broken = server.database.write((transaction) =>
      transaction
        .updateTable('ledger_accounts')
        .set({ balance: '1' })
        .where('id', 'like', 'test/USDT/custody/tron/%')
        .execute(),
    );
    await broken;
    const { exitCode, stdout } = await merchant.run('ledger', 'check');
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}Every balance is the sum of its entries \(\d+ checked\)$/m);
    expect(stdout).toMatch(/^ {6}test\/USDT\/custody\/tron\/\w+ is 1, but its entries add up to \d+$/m);
    expect(stdout).toMatch(/^ok {4}Reserved is the sum of the open holds \(\d+ checked\)$/m);
  });
});
