/** Public reports about payouts that wallets sent twice, late, or under another hash, tried on this server. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { getAddress } from 'viem';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { signIn, type TestBrowser } from '../support/browser.js';
import { engines } from '../support/engines.js';
import { factory, transact } from '../support/forwarders.js';
import { startProviderProxy, type ProviderProxy } from '../support/provider-proxy.js';
import { openTreasury, treasury, type TreasuryFixture } from '../treasury/treasury-fixture.js';

const [engine] = engines;
if (!engine) throw new Error('There is no engine');

const network = 'evm-dev';
const path = '/console/api/payout-exports';
const destination = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
const scammer = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';

interface File {
  readonly export: string;
  readonly transfers: readonly { readonly id: string; readonly to: string; readonly data: string }[];
}

describe('Payouts that a wallet has', () => {
  let anvil: Anvil;
  let proxies: readonly ProviderProxy[];
  let fixture: TreasuryFixture;
  let owner: TestBrowser;
  let cents = 0;

  beforeAll(async () => {
    anvil = await startAnvil();
    proxies = await Promise.all([startProviderProxy(anvil.url), startProviderProxy(anvil.url)]);
    const nodes = proxies.map(({ url }) => url);
    fixture = await openTreasury(engine, { anvil, network: { nodes } });
    await fixture.setTreasury();
    await fixture.pay('USDT');
    await fixture.pay('ETH');
    const { transactions } = await fixture.command<{ transactions: { to: string; data: string }[] }>(
      `sweeps export --network ${network} --format json`,
    );
    for (const { to, data } of transactions) await transact(anvil, to, data);
    await fixture.watch();
    owner = await signIn(fixture.server, 'owner', 'olga@shop.example');
  });
  afterAll(async () => {
    await fixture.booksInOrder();
    await fixture.stop();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await anvil.stop();
  });
  beforeEach(() => anvil.automine(true));

  const ask = async <T>(where: string, body: object = {}): Promise<T> => {
    const answer = await owner.send('POST', `${path}${where}`, { body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body.data as unknown as T;
  };
  const code = async (where: string, body: object) =>
    (await owner.send('POST', `${path}${where}`, { body })).status;
  async function withdraw(amount: number, currency = 'USDT'): Promise<string> {
    const body = { amount, currency, walletAddress: destination, walletNetwork: network };
    return (await fixture.merchant.withdraw(body)).id;
  }
  const status = async (id: string) => (await fixture.merchant.retrieve(id)).status;
  const nonceOf = async (account: string) =>
    Number(await anvil.rpc('eth_getTransactionCount', [account, 'latest']));
  async function exported() {
    const amount = (100 + (cents += 1)) / 100;
    const id = await withdraw(amount);
    const file = await ask<File>('', { network });
    const call = file.transfers.find((one) => one.id === id);
    return { id, amount, exportId: file.export, call: call ?? { to: '', data: '' } };
  }
  async function handed() {
    const made = await exported();
    await ask(`/${made.exportId}/hand-over`, { transfers: [made.id], from: treasury });
    return made;
  }
  const decide = (exportId: string) => ask(`/${exportId}/release-decision`, { reason: 'It was rejected' });
  /** Outflows of the treasury that nobody can explain. Lists them once, and explains them. */
  async function unexplained(): Promise<string[]> {
    const list = (await owner.send('GET', path)).body.data as unknown as {
      unexplained: { txHash: string }[];
    };
    const hashes = list.unexplained.map(({ txHash }) => txHash);
    for (const txHash of new Set(hashes)) {
      const body = { network, txHash, note: 'Test' };
      await owner.send('POST', '/console/api/outflows/explain', { body });
    }
    return hashes;
  }

  // The payee executes the rejected transaction of a multisig after it was paid once more.
  it('ConsenSys/MultiSigWallet#81: a rejected payout of a multisig that is executed after all is booked, and reported', async () => {
    const safe = getAddress(await anvil.deploy('Treasury', [0, factory.address]));
    await fixture.setTreasury(safe);
    await anvil.send(safe, 10n ** 18n);
    const id = await withdraw(0.0007, 'ETH');
    const first = await ask<File>('', { network });
    await decide(first.export);
    const second = await ask<File>('', { network });
    expect(second.transfers.map((one) => one.id)).toEqual([id]);
    const before = await fixture.custody('ETH');
    const payByHand = () => anvil.call('Treasury', safe, 'payOut', [[destination], 700_000_000_000_000n]);
    await payByHand();
    await fixture.watch();
    expect(await status(id)).toBe('success');
    await payByHand();
    await fixture.watch();
    const rows = await fixture.command<{ amount: string; currency: string; status: string }[]>(
      `transfers list --merchant ${fixture.merchantId}`,
    );
    expect(rows.filter(({ amount }) => amount === '0.0007').map((row) => row.status)).toEqual([
      'success',
      'success',
    ]);
    expect(before.treasury - (await fixture.custody('ETH')).treasury).toBe(1_400_000_000_000_000n);
    expect(await unexplained()).toEqual([]);
    await fixture.setTreasury();
  });

  // A processor pays what a person has approved, and the person signs it once more.
  it('btcpayserver#5913: a payout that was signed outside the export is not handed to a wallet, and a second one is reported', async () => {
    const { id, exportId, call } = await exported();
    await transact(anvil, call.to, call.data, treasury);
    expect(await code(`/${exportId}/hand-over`, { transfers: [id], from: treasury })).toBe(409);
    const { transactionHash: again } = await transact(anvil, call.to, call.data, treasury);
    await fixture.watch();
    expect(await status(id)).toBe('success');
    const reported = await unexplained();
    expect(reported).toHaveLength(1);
    expect([again, (await fixture.merchant.retrieve(id)).txHash]).toContain(reported[0]);
  });

  // The payout was cancelled, the claim went through, and the server never noticed.
  it('btcpayserver#7144: a payout that was cancelled and went through is a success, and its money is gone', async () => {
    const { id, amount, exportId, call } = await handed();
    await decide(exportId);
    await fixture.command(`transfers fail ${id} --reason Cancelled`);
    const { availableBalance: before } = await fixture.merchant.balance('USDT');
    await transact(anvil, call.to, call.data, treasury);
    await fixture.watch();
    expect(await status(id)).toBe('success');
    expect(before - (await fixture.merchant.balance('USDT')).availableBalance).toBeCloseTo(amount, 6);
  });

  // Behind a balancer, another node answers than the one that took the transaction.
  it('gp-v2-services#896: of two nodes, the one that is behind does not say with which nonce a wallet may have signed', async () => {
    await transact(anvil, treasury, '0x', treasury);
    const next = await nonceOf(treasury);
    const [lagging] = proxies;
    if (lagging) {
      lagging.change = ({ method, params }, result) =>
        method === 'eth_getTransactionCount' && typeof params[1] === 'string' && !params[1].startsWith('0x')
          ? `0x${(Number(result) - 1).toString(16)}`
          : undefined;
    }
    const { id, exportId } = await handed();
    if (lagging) lagging.change = undefined;
    await fixture.watch();
    expect(await code(`/${exportId}/release`, { nonce: next - 1 })).toBe(409);
    await transact(anvil, treasury, '0x', treasury);
    await fixture.watch();
    expect(await code(`/${exportId}/release`, { nonce: next })).toBe(200);
    await fixture.command(`transfers fail ${id} --reason Test`);
  });

  // "Speed up" sends another transaction, and nobody notifies the page.
  it('web3.js#3585, ethers.js#1520: a payout that the wallet has sped up settles, whatever hash was reported', async () => {
    const { id, exportId, call } = await handed();
    await anvil.automine(false);
    const nonce = `0x${(await nonceOf(treasury)).toString(16)}`;
    const sendAtGasPrice = (gwei: number) =>
      anvil.rpc<string>('eth_sendTransaction', [
        { from: treasury, ...call, nonce, gasPrice: `0x${(gwei * 10 ** 9).toString(16)}` },
      ]);
    const slow = await sendAtGasPrice(3);
    await ask(`/${exportId}/answer`, { transfers: [id], answer: slow });
    const fast = await sendAtGasPrice(30);
    expect(await code(`/${exportId}/answer`, { transfers: [id], answer: fast })).toBe(200);
    await anvil.automine(true);
    await fixture.watch();
    expect(await status(id)).toBe('success');
    expect((await fixture.merchant.retrieve(id)).txHash).toBe(fast);
    expect(await unexplained()).toEqual([]);
  });

  // The person rejects the replacement, the wallet calls the whole thing failed, and the original is mined.
  it('metamask-extension#8831: a payout that the wallet calls failed is a success if it was mined', async () => {
    const { id, exportId, call } = await handed();
    await ask(`/${exportId}/answer`, { transfers: [id], answer: null });
    await transact(anvil, call.to, call.data, treasury);
    // It is in a block that is not final: the page must not have it sent again.
    expect(await code(`/${exportId}/hand-over`, { transfers: [id], from: treasury })).toBe(409);
    await fixture.watch();
    expect(await status(id)).toBe('success');
  });

  // Anyone can have a token log a transfer of nothing from any account.
  it('rotki#5749: a transfer of nothing from the treasury is no outflow', async () => {
    const nothing = `0xa9059cbb${scammer.slice(2).toLowerCase().padStart(64, '0')}${'0'.repeat(64)}`;
    await transact(anvil, fixture.token, nothing, treasury);
    await fixture.watch();
    expect(await unexplained()).toEqual([]);
  });

  // The first attempts seem lost, and all three are mined with nonces of their own.
  it('safe-react#2118: of three attempts that are all mined, one settles the payout, and two are reported', async () => {
    const { id, call } = await handed();
    for (let time = 0; time < 3; time += 1) await transact(anvil, call.to, call.data, treasury);
    await fixture.watch();
    expect(await status(id)).toBe('success');
    expect(await unexplained()).toHaveLength(2);
  });
});
