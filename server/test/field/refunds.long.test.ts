/** Public reports about signatures of wallets, addresses that burn money, and refunds, tried on this server. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, createBase58check, hex } from '@scure/base';
import { addr, eip191Signer } from 'micro-eth-signer';
import { encodeAbiParameters, hashMessage, type Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { claimTokenOf, openClaimBrowser } from '../support/claim-browser.js';
import { engines } from '../support/engines.js';
import { externalAddresses, openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';
import { confirmations, openTreasury, type TreasuryFixture } from '../treasury/treasury-fixture.js';

const [engine] = engines;
if (!engine) throw new Error('There is no engine');

const payerKey = `0x${'7'.repeat(64)}`;
const payer = addr.fromPrivateKey(payerKey);
const strangerKey = `0x${'8'.repeat(64)}`;

interface Claimed {
  readonly sameWallet: boolean | null;
  readonly signatureText: string;
}

/** Gives an address with the signature that is made of the text. @returns the answer of the server */
async function prove(
  server: TestServer,
  token: string,
  sign: (text: string) => string,
  address: string = externalAddresses.evm,
): Promise<boolean | null> {
  const browser = openClaimBrowser(server);
  const { signatureText } = (await browser.claim(token)).body.data as unknown as Claimed;
  const answer = await browser.claim(token, address, sign(signatureText.replace('{address}', address)));
  expect(answer.status, answer.body.message).toBe(200);
  return (answer.body.data as unknown as Claimed).sameWallet;
}

describe('Signatures and addresses, on simulated networks', () => {
  let server: TestServer;
  let merchant: Shop;
  beforeAll(async () => {
    server = await startServer({ engine, env: { PUBLIC_URL: 'https://pay.shop.example/checkout' } });
    merchant = openShop(server);
    await merchant.fund({ network: 'ethereum', amount: 100 });
    await merchant.fund({ amount: 100 });
  });
  afterAll(() => server.stop());

  /** The simulated network has senders without keys. @param senders of the payment's transfers, in their order */
  async function paidBy(paymentId: string, senders: readonly string[]): Promise<void> {
    const rows = await server.database.reader
      .selectFrom('receipts')
      .select('id')
      .where('payment_id', '=', paymentId)
      .orderBy('first_seen_at')
      .orderBy('amount', 'desc')
      .execute();
    for (const [index, { id }] of rows.entries()) {
      await server.database.write((transaction) =>
        transaction
          .updateTable('receipts')
          .set({ senders: JSON.stringify([senders[index]]) })
          .where('id', '=', id)
          .execute(),
      );
    }
  }

  async function refund(senders: readonly string[] = [payer], extra: readonly number[] = []) {
    const { id, address } = await merchant.lock({ network: 'ethereum' });
    await merchant.send(address, 15, { network: 'ethereum' });
    for (const amount of extra) await merchant.send(address, amount, { network: 'ethereum' });
    await merchant.mine(2, 'ethereum');
    await paidBy(id, senders);
    return claimTokenOf(await merchant.refund(id, { kind: 'partial', amount: 4 }));
  }

  /** The same signature in other forms. */
  const ledgers = (signature: string) => signature.slice(0, -2) + (signature.endsWith('1b') ? '00' : '01');
  function compact(signature: string): string {
    const first = Number(`0x${signature.slice(66, 68)}`) | (signature.endsWith('1c') ? 0x80 : 0);
    return signature.slice(0, 66) + first.toString(16).padStart(2, '0') + signature.slice(68, 130);
  }

  it.each([
    ['27 and 28, as most wallets write it', (signature: string) => signature],
    ['0 and 1, as a Ledger writes it (LedgerHQ/ledgerjs#466, MetaMask/metamask-extension#10850)', ledgers],
    ['in s, in 64 bytes: EIP-2098 (ethers-io/ethers.js#2246)', compact],
    ['27 and 28, in capitals', (signature: string) => `0x${signature.slice(2).toUpperCase()}`],
  ])('A signature with a v of %s proves the wallet that paid', async (_name, form) => {
    for (const address of [externalAddresses.evm, payer]) {
      const token = await refund();
      const signed = (text: string) => form(eip191Signer.sign(text, payerKey));
      expect(await prove(server, token, signed, address)).toBe(true);
      expect(await prove(server, await refund(), (text) => form(eip191Signer.sign(text, strangerKey)))).toBe(
        false,
      );
    }
  });

  it('A wallet that sent only dust is not the wallet that paid', async () => {
    const stranger = addr.fromPrivateKey(strangerKey);
    const token = await refund([payer, stranger], [0.000_001]);
    expect(await prove(server, token, (text) => eip191Signer.sign(text, strangerKey))).toBe(false);
    const own = await refund([payer, stranger], [0.000_001]);
    expect(await prove(server, own, (text) => eip191Signer.sign(text, payerKey))).toBe(true);
    // A sender who sent as much as the refund returns has paid it, no matter who paid the rest.
    const shared = await refund([payer, stranger], [4]);
    expect(await prove(server, shared, (text) => eip191Signer.sign(text, strangerKey))).toBe(true);
  });

  it('One coin does not prove two refunds', async () => {
    const { id, address } = await merchant.lock({ network: 'ethereum' });
    await merchant.send(address, 10, { network: 'ethereum' });
    await merchant.send(address, 4, { network: 'ethereum' });
    await merchant.mine(2, 'ethereum');
    await paidBy(id, [addr.fromPrivateKey(strangerKey), payer]);
    const sign = (text: string) => eip191Signer.sign(text, payerKey);
    const start = async () => claimTokenOf(await merchant.refund(id, { kind: 'partial', amount: 3 }));
    expect([await prove(server, await start(), sign), await prove(server, await start(), sign)]).toEqual([
      ...[true, false],
    ]);
  });

  it('The text to sign names the shop, the checkout, the chain, the refund, the amount and the address', async () => {
    const token = await refund();
    const { signatureText } = (await openClaimBrowser(server).claim(token)).body.data as unknown as Claimed;
    expect(signatureText.split('\n')).toEqual([
      expect.stringMatching(/^Refund from \S/) as string,
      'Checkout: https://pay.shop.example',
      expect.stringMatching(/^Refund: [0-9A-Z]{26}$/) as string,
      'Amount: 4.00 USDT'.replace('4.00', '4'),
      'Network: Ethereum, a simulated chain',
      'Send it to: {address}',
    ]);
  });

  const coins = {
    ethereum: ['USDT', 15],
    base: ['USDC', 15],
    tron: ['USDT', 15],
    bitcoin: ['BTC', 2],
    litecoin: ['LTC', 2],
  } as const;
  const zeros = new Uint8Array(20);
  const base58check = createBase58check(sha256);
  const output = (hash: string) => base58check.encode(Uint8Array.of(0x6f, ...hex.decode(hash)));
  it.each([
    ['ethereum', 'the zero address (MetaMask/metamask-extension#4567)', `0x${'0'.repeat(40)}`],
    [
      'ethereum',
      '0x…dEaD (MetaMask/metamask-extension#38345, vultisig/vultisig-sdk#1698)',
      `0x${'0'.repeat(36)}dEaD`,
    ],
    ['ethereum', 'dead all over', `0x${'dead'.repeat(10)}`],
    ['ethereum', 'the burn address of a meme coin', '0xdead000000000000000042069420694206942069'],
    ['ethereum', 'the first precompile (filecoin-project/ref-fvm#1474)', `0x${'0'.repeat(39)}1`],
    ['ethereum', 'the precompile of blobs', `0x${'0'.repeat(38)}0a`],
    ['ethereum', 'the precompile of passkeys', `0x${'0'.repeat(37)}100`],
    ['ethereum', 'the last number that is kept for precompiles', `0x${'0'.repeat(36)}ffff`],
    ['base', 'WETH, which OP Stack networks deploy themselves', `0x42${'0'.repeat(36)}06`],
    ['base', 'what stands for the own coin in routers', `0x${'e'.repeat(40)}`],
    ['ethereum', 'the system of Ethereum', `0x${'f'.repeat(39)}e`],
    ['tron', 'the zero address of Tron', base58check.encode(Uint8Array.of(0x41, ...zeros))],
    ['tron', 'the Blackhole of Tron', 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'],
    ['bitcoin', 'the hash of zeros', output('00'.repeat(20))],
    ['bitcoin', 'Counterparty’s proof of burn', output('818895f3dc2c178629d3d2d8fa3ec4a3f8179821')],
    ['bitcoin', '1BitcoinEater…, in a test network', output('759d6677091e973b9e9d99f19c68fbf43e3f05f9')],
    [
      'litecoin',
      'the zero address of segwit (vultisig/vultisig-android#5846)',
      bech32.encode('tltc', [0, ...bech32.toWords(zeros)]),
    ],
  ] as const)('A refund on %s is not sent to %s', async (network, _name, address) => {
    const [currency, amount] = coins[network];
    const { id } = await merchant.fund({ network, currency, amount });
    const token = claimTokenOf(await merchant.refund(id, { kind: 'partial', amount: amount / 10 }));
    const answer = await openClaimBrowser(server).claim(token, address);
    expect([answer.status, answer.body.data.code, answer.body.message]).toEqual([
      ...[400, 'invalid_address'],
      'Nobody has this address: what is sent there is lost',
    ]);
  });
});

describe('Contract wallets, on a real chain', () => {
  let fixture: TreasuryFixture;
  let wallet: Hex;
  beforeAll(async () => {
    fixture = await openTreasury(engine);
    await fixture.setTreasury();
    wallet = await fixture.anvil.deploy('ContractWallet', [payer]);
    await fixture.anvil.call('SilentToken', fixture.token, 'transfer', [wallet, 1_000_000_000n]);
  });
  afterAll(() => fixture.stop());

  /** A payment by the wallet, with 5 more than its price, and the refund of these. */
  async function refund(): Promise<string> {
    const { anvil, token, merchant } = fixture;
    const { id, address, amount } = await fixture.lock('USDT');
    await anvil.call('ContractWallet', wallet, 'pay', [token, address, amount + 5_000_000n]);
    await anvil.mine(confirmations);
    await vi.waitFor(
      async () => {
        await fixture.scan();
        const { state } = await merchant.ask<{ state: string }>('GET', `/v1/payments/${id}`);
        expect(state).toBe('settled_over');
      },
      { timeout: 10_000, interval: 50 },
    );
    return claimTokenOf(await merchant.refund(id, { kind: 'excess' }));
  }
  const by = (key: string) => (text: string) => eip191Signer.sign(text, key);
  /** As EIP-6492 wraps a signature: the factory, what to call it with, and the signature itself. */
  const wrapped = (sign: (text: string) => string) => (text: string) =>
    encodeAbiParameters(
      [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
      [`0x${'1'.repeat(40)}`, '0x1234', sign(text) as Hex],
    ) + '6492'.repeat(16);

  it('A contract wallet proves its payment by EIP-1271 (LIT-Protocol/chipotle#473, Steward-Fi/steward#40)', async () => {
    expect(await prove(fixture.server, await refund(), by(payerKey))).toBe(true);
    expect(await prove(fixture.server, await refund(), by(strangerKey))).toBe(false);
  });

  it('A deployed contract wallet proves its payment in EIP-6492’s wrapper (ethereum/EIPs#7284, AmbireTech/signature-validator#8)', async () => {
    expect(await prove(fixture.server, await refund(), wrapped(by(payerKey)))).toBe(true);
    expect(await prove(fixture.server, await refund(), wrapped(by(strangerKey)))).toBe(false);
    const broken = () => `0x${'ff'.repeat(96)}${'6492'.repeat(16)}`;
    expect(await prove(fixture.server, await refund(), broken)).toBe(false);
  });

  it('A contract wallet proves its payment with an empty signature if the chain has the text it signed (spruceid/siwe-py#76)', async () => {
    const token = await refund();
    expect(await prove(fixture.server, token, () => '0x')).toBe(false);
    const again = await refund();
    const { signatureText } = (await openClaimBrowser(fixture.server).claim(again)).body
      .data as unknown as Claimed;
    const hash = hashMessage(signatureText.replace('{address}', externalAddresses.evm));
    await fixture.anvil.call('ContractWallet', wallet, 'sign', [hash]);
    expect(signatureText).toContain('chain 31337');
    expect(await prove(fixture.server, again, () => '0x')).toBe(true);
  });

  it('A contract wallet cannot stop a network by its answers (LIT-Protocol/chipotle#473)', async () => {
    const { anvil, server } = fixture;
    const hostile = [
      ['complain', ['too many requests, try again in 9999 minutes']],
      ['turnHostile', []],
    ] as const;
    const tokens = [await refund(), await refund()];
    for (const [index, [method, inputs]] of hostile.entries()) {
      await anvil.call('ContractWallet', wallet, 'complain', ['']);
      await anvil.call('ContractWallet', wallet, method, inputs);
      expect(await prove(server, tokens[index] ?? '', by(strangerKey))).toBe(false);
      const nodes = server.app.networks().find(({ network }) => network === 'evm-dev');
      expect(JSON.stringify(nodes)).not.toMatch(/gas|timed? ?out|requests for/i);
    }
    await refund();
  });
});
