/** A shop whose records are as long as they may be, and written from both sides. */
import type { Payment } from 'crypto-checkout/contract';
import { expect, vi } from 'vitest';
import { merchantIdOf, runCommand, type ServerEnv } from './deposit-keys.js';
import { settingsPages } from './staff.js';
import type { Stage } from './stage.js';

export const long = {
  reference: 'ORDER-5012-northwind-industrial-components-2026-11-warehouse-rotterdam-batch-0004711-expedited',
  email: 'elena.konstantinopoulou-papadimitriou@accounts-payable.customers.example.com',
  name: 'Elena Konstantinopoulou-Papadimitriou von und zu Hohenstein-Wittelsbach',
  rightToLeft: 'شركة التوريدات الصناعية المتقدمة للمكونات الإلكترونية وقطع الغيار المحدودة',
} as const;

async function pay(stage: Stage, factor: number, txRef: string, email: string, name: string) {
  const { payment } = await stage.create({ txRef, customer: { email, name } });
  const params = { payment_id: payment.id };
  const { payments } = stage.merchant;
  await payments.setCurrency({ params: { ...params, currency: 'USDT', network: 'tron' } });
  const { data } = await payments.lockCurrency({ params });
  await stage.send(data, (data.amount ?? 0) * factor);
  return data;
}

/** @returns the pages of the console that show it, and the payment with refunds */
export async function makeLongData(
  stage: Stage,
  env: ServerEnv,
): Promise<{ paths: string[]; payment: Payment }> {
  const { merchant } = stage;
  const id = await merchantIdOf(env);
  const url = [
    '--webhook-url',
    'http://127.0.0.1:9/hooks/checkout/webhooks/receiver/of/the/shop',
    '--mode',
    'test',
  ];
  const shop = 'Northwind Industrial Components & Spare Parts International';
  await runCommand(env, 'merchants', 'update', id, ...url, '--name', shop, '--business-name', shop);
  const label = ['--label', 'The key of the integration with the warehouse in Rotterdam'];
  await runCommand(env, 'keys', 'create', '--merchant', id, '--kind', 'secret', '--mode', 'test', ...label);
  const person = [
    '--email',
    'konstantinopoulou-papadimitriou@accounting.shop.example',
    '--role',
    'accountant',
  ];
  await runCommand(env, 'users', 'invite', '--merchant', id, ...person);

  const payment = await pay(stage, 150, long.reference, long.email, long.name);
  const other = await pay(stage, 2, 'ORDER-5013', 'a@b.example', long.rightToLeft);
  await stage.sandbox('blocks', { network: 'tron', count: 30 });
  for (const one of [payment, other]) {
    await vi.waitFor(async () => expect((await stage.verify(one.id)).state).toBe('settled_over'), 20_000);
  }
  const address = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
  const params = { payment_id: payment.id };
  const reason = 'You sent more than the price of the order, and asked for it back';
  const partial = { kind: 'partial', amount: '1234.56', reason } as const;
  await merchant.refunds.create({ params, body: { ...partial, address } });
  await merchant.refunds.create({ params, body: { ...partial, amount: '2', networkFee: 'payer' } });
  await merchant.refunds.create({ params: { payment_id: other.id }, body: { kind: 'excess', address } });
  const { data: transfer } = await merchant.transfers.create({
    body: { amount: '100.123456', currency: 'USDT', walletNetwork: 'tron', walletAddress: address },
  });
  const { data: wallet } = await merchant.wallets.create({
    body: { currency: 'USDT', label: 'Donations for the restoration of the harbour museum' },
  });
  await merchant.wallets.create({ body: { currency: 'BTC', label: long.rightToLeft } });
  const { data: account } = await merchant.bankAccounts.create({
    body: {
      accountNumber: 'DE89370400440532013000',
      accountBank: long.name,
      country: 'DE',
      currency: 'EUR',
      accountName: long.rightToLeft,
    },
  });
  const bank = ['payouts', 'create', '--merchant', id, '--mode', 'test', '--bank-account', account.id];
  const sum = ['--amount', '1234.567891', '--currency', 'USDT', '--reference', long.reference];
  await runCommand(env, ...bank, ...sum);
  const plan = (planName: string) =>
    merchant.paymentPlans.create({
      body: {
        frequency: 'monthly',
        planName,
        numberOfTimesToCharge: 12,
        amount: 12_345.67,
        currency: 'USD',
        currencies: ['USDT'],
      },
    });
  await plan(long.rightToLeft);
  const { data: made } = await plan('Maintenance of the machines in the northern and the southern halls');
  await merchant.subscribers.create({ params: { payment_plan_id: made.id }, body: { email: long.email } });
  const { data: link } = await merchant.links.create({
    body: {
      title: 'Industrial components by subscription',
      text: long.rightToLeft,
      baseCurrency: 'USD',
      minAmount: 1234.56,
      maxAmount: 98_765.43,
      presets: [1234.56, 12_345.67, 98_765.43],
      stock: 12_345,
      fields: [{ name: 'warehouse', label: 'The warehouse that the parts are sent to', isRequired: true }],
    },
  });
  const { data: invoice } = await merchant.links.create({
    body: {
      title: long.rightToLeft,
      baseCurrency: 'USD',
      dueAt: '2999-12-30T18:29:59.999Z',
      lines: [
        { name: long.name, quantity: 12, amount: 1234.56 },
        { name: long.rightToLeft, quantity: 1, amount: 98_765.43 },
      ],
    },
  });
  const [customer] = (await merchant.customers.list({ query: { email: long.email } })).data;
  const delivery = await vi.waitFor(async () => {
    const [one] = (await merchant.webhooks.list({ query: { subjectId: payment.id } })).data;
    expect(one?.tries.length).toBeGreaterThan(0);
    return one;
  }, 20_000);
  const paths = [
    ...['home', 'payments', `payment/${payment.id}`, `payment/${other.id}`, 'refunds', 'money'],
    ...[
      'banks',
      `transfer/${transfer.id}`,
      'exports',
      'sweeps',
      'checks',
      'books',
      'customers',
      `customer/${customer?.id}`,
    ],
    ...['links', `link/${link.id}`, `link/${invoice.id}`],
    ...['plans', `plan/${made.id}`, 'subscribers', 'wallets', `wallet/${wallet.id}`, 'developers'],
    ...[`delivery/${delivery?.id}`, ...settingsPages, `payments?q=${long.reference}-nothing`],
  ];
  return { paths, payment };
}
