/** Paying from a wallet in the browser, on a real chain: the wallet signs with viem, anvil mines, and the server sees it arrive. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Payment } from 'crypto-checkout/contract';
import type { Page } from 'playwright-core';
import { createWalletClient, http, keccak256, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anvilChainId, startAnvil, type Anvil } from '../../server/test/support/anvil.js';
import { giveWallet, SendingWallet } from './browser-wallet.js';
import { checkoutOn, type Checkout } from './checkout.js';
import { merchantIdOf, setDepositKey } from './deposit-keys.js';
import { useStageWithCommands, writeNetworks } from './stage.js';

/** The second of anvil's published accounts: the payer. The first one deploys the token. */
const payer = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d');
/** Like USDT on BNB Smart Chain, and unlike the books, which use six. */
const tokenDecimals = 18;

let anvil: Anvil;
let token: Hex;
let shop: Server | undefined;

const { stage, env } = useStageWithCommands({
  async prepare(directory) {
    anvil = await startAnvil();
    token = await anvil.deploy('PlainToken', [tokenDecimals]);
    await anvil.call('PlainToken', token, 'transfer', [payer.address, 10n ** 24n]);
    const network = {
      nodes: [anvil.url],
      walletRpcUrl: anvil.url,
      assets: { USDT: { contract: token, decimals: tokenDecimals } },
    };
    return writeNetworks(directory, { 'evm-dev': network });
  },
});

beforeAll(async () => setDepositKey(stage, env(), await merchantIdOf(env()), 'evm', 'evm-dev'));
afterAll(async () => {
  shop?.close();
  await anvil.stop();
});

interface TestWallet extends SendingWallet {
  /** Signed, but not on the chain yet. */
  readonly signed: Hex[];
}

/** A wallet that signs with a key that the page never sees. */
async function installWallet(page: Page, chainId = 1): Promise<TestWallet> {
  const client = createWalletClient({ account: payer, chain: foundry, transport: http(anvil.url) });
  const signed: Hex[] = [];
  const wallet = new SendingWallet({
    account: payer.address,
    chainId,
    async send({ from, chainId: on, to, value = '0x0', data }) {
      expect(from).toBe(payer.address);
      expect(Number(on)).toBe(anvilChainId);
      const request = await client.prepareTransactionRequest({
        to,
        value: BigInt(value),
        ...(data && { data }),
      });
      const transaction = await client.signTransaction(request);
      signed.push(transaction);
      return keccak256(transaction);
    },
  });
  for (const method of ['eth_getBalance', 'eth_call'])
    wallet.answers[method] = (params) => anvil.rpc(method, params);
  const icon = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>';
  await giveWallet(page, wallet, icon);
  return Object.assign(wallet, { signed });
}

async function openPayment(
  currency: string,
): Promise<{ page: Page; checkout: Checkout; payment: Payment; wallet: TestWallet }> {
  const { payment, url } = await stage.createLocked(currency, 'evm-dev');
  const page = await stage.page();
  const wallet = await installWallet(page);
  await page.goto(url);
  const checkout = checkoutOn(page);
  await checkout.reach('awaiting-funds');
  return { page, checkout, payment, wallet };
}

/** Waits for the hash. Without one, reports what the page and the wallet did instead. */
async function sent(checkout: Checkout, wallet: TestWallet): Promise<void> {
  await checkout
    .part('wallet-hash')
    .waitFor()
    .catch(async (error: unknown) => {
      const shown = await checkout.part('card').innerText();
      const calls = wallet.calls.map(({ method }) => method).join(', ');
      throw new Error(`No hash after ${calls}. The page: ${shown}`, { cause: error });
    });
}

/** Sends the transactions that the wallet has signed: only then can the server see them. */
async function broadcast(wallet: TestWallet): Promise<void> {
  for (const signed of wallet.signed.splice(0)) await anvil.publish(signed);
}

const balanceOf = (address: string) => anvil.rpc<Hex>('eth_getBalance', [address, 'latest']).then(BigInt);

test('ether is paid from a wallet that first has to add the chain', async () => {
  const { checkout, payment, wallet } = await openPayment('ETH');
  await checkout.part('action').filter({ hasText: 'Pay with' }).click();
  await sent(checkout, wallet);
  expect(await checkout.part('status').innerText()).toBe(
    'Sent from your wallet, waiting for the network. Do not send again.',
  );
  await broadcast(wallet);
  const address = payment.addressInformation?.address ?? '';
  expect(await balanceOf(address)).toBe(BigInt(Math.round((payment.amount ?? 0) * 1e8)) * 10n ** 10n);
  await anvil.mine(3);
  await checkout.reach('success');
  expect((await stage.verify(payment.id)).amountReceived).toBe(payment.amount);
  expect(wallet.calls.map(({ method }) => method)).toEqual([
    'eth_requestAccounts',
    'eth_chainId',
    'wallet_switchEthereumChain',
    'wallet_addEthereumChain',
    'eth_chainId',
    'wallet_switchEthereumChain',
    'eth_chainId',
    'eth_getBalance',
    'eth_accounts',
    'eth_chainId',
    'eth_sendTransaction',
  ]);
});

test('a token with more decimals than the books is paid exactly', async () => {
  const { checkout, payment, wallet } = await openPayment('USDT');
  await checkout.part('action').filter({ hasText: 'Pay with' }).click();
  await sent(checkout, wallet);
  await broadcast(wallet);
  await anvil.mine(3);
  await checkout.reach('success');
  const { amountReceived, amount } = await stage.verify(payment.id);
  expect(amountReceived).toBe(amount);
  const address = payment.addressInformation?.address ?? '';
  const data = `0x70a08231${address.slice(2).padStart(64, '0')}`;
  const units = BigInt(await anvil.rpc<Hex>('eth_call', [{ to: token, data }, 'latest']));
  expect(units).toBe(BigInt(Math.round((amount ?? 0) * 100)) * 10n ** 16n);
});

test('a payer who declines, reloads, and pays the rest of a part payment pays once', async () => {
  const { page, checkout, payment, wallet } = await openPayment('ETH');
  wallet.owner = 'declines';
  await checkout.part('action').filter({ hasText: 'Pay with' }).click();
  const problem = checkout.part('wallet-problem');
  await problem.filter({ hasText: 'You declined in Test Wallet. Nothing was sent.' }).waitFor();
  wallet.owner = 'confirms';
  const address = payment.addressInformation?.address ?? '';
  const whole = BigInt(Math.round((payment.amount ?? 0) * 1e8)) * 10n ** 10n;
  const part = 10n ** 14n;
  await anvil.send(address, part);
  await checkout.reach('partially-paid');
  await page.reload();
  await checkout.part('action').filter({ hasText: 'Pay with' }).click();
  await sent(checkout, wallet);
  await broadcast(wallet);
  expect(await balanceOf(address)).toBe(whole);
  await anvil.mine(3);
  await checkout.reach('success');
  expect((await stage.verify(payment.id)).amountReceived).toBe(payment.amount);
});

test('in a modal on a shop with a strict policy, a wallet pays, and nothing violates the policy', async () => {
  const { url, publicKey } = stage.server;
  const { payment } = await stage.createLocked('ETH', 'evm-dev');
  const policy = `default-src 'none'; script-src ${url}; style-src 'self'; img-src data:; connect-src ${url}; require-trusted-types-for 'script'`;
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A shop</title>
    <link rel="icon" href="data:,"><script type="module" src="${url}/crypto-checkout.js"></script></head><body><h1>A shop</h1>
    <form><crypto-checkout name="payment" required mode="modal" public-key="${publicKey}" payment-id="${payment.id}">
    <button slot="trigger">Buy</button></crypto-checkout></form></body></html>`;
  shop = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': policy }).end(html);
  });
  await new Promise<void>((resolve) => shop?.listen(0, '127.0.0.1', resolve));
  const page = await stage.page();
  const wallet = await installWallet(page, anvilChainId);
  await page.goto(`http://127.0.0.1:${(shop.address() as AddressInfo).port}/`);
  const isValid = () => page.evaluate(() => document.forms[0]?.checkValidity());
  const checkout = checkoutOn(page);
  // The modal is closed: of the checkout there is only its trigger.
  await page.locator('crypto-checkout[status="awaiting-funds"]').waitFor();
  expect(await isValid()).toBe(false);
  await page.getByRole('button', { name: 'Buy' }).click();
  await page.getByRole('dialog').waitFor();
  await checkout.part('action').filter({ hasText: 'Pay with' }).click();
  await sent(checkout, wallet);
  await broadcast(wallet);
  // A real key press: it closes the modal, and the payment continues.
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Buy');
  await anvil.mine(3);
  await page.locator('crypto-checkout[status="success"]').waitFor();
  expect(await isValid()).toBe(true);
  expect(await page.evaluate(() => new FormData(document.forms[0]).get('payment'))).toBe(payment.id);
});

test('a simulated network has no wallets: they would send real coins there', async () => {
  const { url } = await stage.createLocked('ETH', 'ethereum');
  const page = await stage.page();
  await installWallet(page);
  await page.goto(url);
  const checkout = checkoutOn(page);
  await checkout.reach('awaiting-funds');
  await checkout.part('qr').waitFor();
  expect(await checkout.part('wallets').count()).toBe(0);
});
