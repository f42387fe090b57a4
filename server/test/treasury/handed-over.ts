/**
 * A transfer that was handed to a wallet can always be paid: it is let go by a proof or an owner's decision, and booked
 * if it is paid.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Hex } from 'viem';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { signIn, type TestBrowser } from '../support/browser.js';
import type { TestEngine } from '../support/engines.js';
import { transact } from '../support/forwarders.js';
import { startProviderProxy, type ProviderProxy } from '../support/provider-proxy.js';
import { confirmations, openTreasury, treasury, type TreasuryFixture } from './treasury-fixture.js';
import { treasury as treasuryModule } from '../../src/modules/treasury/module.js';

const destination = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
/** Accounts of anvil: another treasury of the shop, and somebody else. */
const second: Hex = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const stranger: Hex = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const network = 'evm-dev';
const path = '/console/api/payout-exports';

interface File {
  readonly export: string | null;
  readonly transfers: readonly { readonly id: string; readonly to: string; readonly data: string }[];
  readonly leftOut: readonly { readonly id: string }[];
  readonly held: readonly { readonly id: string; readonly reason: string }[];
}
interface Listed {
  readonly exports: readonly {
    readonly id: string;
    readonly transfers: readonly { readonly id: string; readonly walletAnswer: string | null }[];
  }[];
  readonly unexplained: readonly Readonly<Record<'txHash' | 'amount' | 'currency' | 'address', string>>[];
}
interface Status {
  readonly treasuries: readonly {
    readonly unexplained: number;
    readonly outflows: readonly Readonly<Record<'txHash' | 'amount' | 'currency' | 'address', string>>[];
  }[];
}

export const testHandedOver = (engine: TestEngine): unknown =>
  describe(`transfers that a treasury's wallet was given, on ${engine.name}`, () => {
    let anvil: Anvil;
    let node: ProviderProxy;
    let fixture: TreasuryFixture;
    let owner: TestBrowser;
    let manager: TestBrowser;
    /** Each transfer differs, so that no payment is like that of another test. */
    let cents = 0;

    beforeAll(async () => {
      anvil = await startAnvil();
      node = await startProviderProxy(anvil.url);
      fixture = await openTreasury(engine, { anvil, network: { nodes: [node.url] } });
      await fixture.command(
        `merchants update ${fixture.merchantId} --webhook-url https://shop.example/hooks --mode test`,
      );
      await fixture.setTreasury();
      for (let time = 0; time < 4; time += 1) await fixture.pay('USDT');
      await fixture.pay('ETH');
      await sweep();
      owner = await signIn(fixture.server, 'owner', 'olga@shop.example');
      manager = await signIn(fixture.server, 'manager', 'max@shop.example');
    });
    afterAll(async () => {
      await fixture.stop();
      await node.close();
      await anvil.stop();
    });
    beforeEach(async () => {
      await anvil.automine(true);
    });

    async function sweep(): Promise<void> {
      const { transactions } = await fixture.command<{ transactions: { to: string; data: string }[] }>(
        `sweeps export --network ${network} --format json`,
      );
      for (const { to, data } of transactions) await transact(anvil, to, data);
      await fixture.watch();
    }
    async function createTransfer(amount = nextAmount(), currency = 'USDT'): Promise<string> {
      const body = { amount, currency, walletAddress: destination, walletNetwork: network };
      return (await fixture.merchant.withdraw(body)).id;
    }
    const nextAmount = () => (100 + (cents += 1)) / 100;
    const unitsOf = (amount: number) => BigInt(Math.round(amount * 100)) * 10_000n;
    const transferData = (to: string, amount: bigint) =>
      `0xa9059cbb${to.slice(2).toLowerCase().padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`;
    const payOut = async (amount: bigint, from: string = treasury, to = destination) =>
      (await transact(anvil, fixture.token, transferData(to, amount), from)).transactionHash;
    const ask = async <T>(where: string, body: object = {}, who = manager): Promise<T> => {
      const answer = await who.send('POST', `${path}${where}`, { body });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return answer.body.data as unknown as T;
    };
    const statusOf = async (where: string, body: object = {}, who = manager) =>
      (await who.send('POST', where.startsWith('/console') ? where : `${path}${where}`, { body })).status;
    const list = async () => (await manager.send('GET', path)).body.data as unknown as Listed;
    const transferStatus = async (id: string) => (await fixture.merchant.retrieve(id)).status;
    const nonceOf = async (account: string) =>
      Number(await anvil.rpc('eth_getTransactionCount', [account, 'latest']));
    const reserved = async () =>
      (await list()).exports.flatMap(({ transfers }) => transfers.map(({ id }) => id));
    const available = async () => (await fixture.merchant.balance('USDT')).availableBalance;
    const fail = (id: string) => fixture.command(`transfers fail ${id} --reason Unneeded`);
    const audit = () =>
      fixture.command<{ action: string; actor: string; subjectId: string; after: Record<string, unknown> }[]>(
        `audit list --merchant ${fixture.merchantId}`,
      );
    const eventTypesOf = async (id: string) => (await fixture.merchant.eventsOf(id)).map(({ type }) => type);

    /** Creates a transfer, exports it, and hands it to the wallet of a treasury. */
    async function handed(from: string = treasury, amount = nextAmount()) {
      const id = await createTransfer(amount);
      const file = await ask<File>('', { network });
      const call = file.transfers.find((one) => one.id === id);
      const exportId = file.export ?? '';
      const nonce = await nonceOf(from);
      await ask(`/${exportId}/hand-over`, { transfers: [id], from });
      return { id, exportId, nonce, amount, call: call ?? { to: '', data: '' } };
    }
    /** Has the account use up its nonce for something else. */
    async function useNonce(account: string): Promise<void> {
      await transact(anvil, account, '0x', account);
      await fixture.watch();
    }

    it('A transfer whose page closed before the wallet answered cannot be released by a manager without proof', async () => {
      const { id, exportId } = await handed();
      for (const body of [{ isUnsent: true }, {}, { nonce: '' }]) {
        expect(await statusOf(`/${exportId}/release`, body)).toBe(400);
      }
      expect(await statusOf(`/${exportId}/release-decision`, { reason: 'Not sent' })).toBe(403);
      expect(await reserved()).toContain(id);
      expect((await ask<File>('', { network })).export).toBeNull();
      await expect(fixture.command(`transfers release ${id} --yes`)).rejects.toThrow(/--reason/);
      await useNonce(treasury);
      await ask(`/${exportId}/release`, { nonce: (await nonceOf(treasury)) - 1 });
      await fail(id);
    });

    it('A used nonce from before the export does not release a transfer that was handed over', async () => {
      const { id, exportId, nonce } = await handed();
      expect(nonce).toBeGreaterThan(0);
      expect(await statusOf(`/${exportId}/release`, { nonce: nonce - 1 })).toBe(409);
      expect(await statusOf(`/${exportId}/release`, { nonce: 0 })).toBe(409);
      await expect(fixture.command(`transfers release ${id} --nonce 0`)).rejects.toThrow(
        /cannot have signed/,
      );
      await useNonce(treasury);
      await ask(`/${exportId}/release`, { nonce });
      await fail(id);
    });

    it('A used nonce from before the export does not release a transfer that was only written to a file', async () => {
      await useNonce(treasury);
      const id = await createTransfer();
      const { export: exportId } = await ask<File>('', { network });
      const next = await nonceOf(treasury);
      expect(await statusOf(`/${exportId ?? ''}/release`, { nonce: next - 1 })).toBe(409);
      await useNonce(treasury);
      await ask(`/${exportId ?? ''}/release`, { nonce: next });
      await fail(id);
    });

    it('A transfer held by an unknown wallet is released by no nonce, and given to no other wallet', async () => {
      const id = await createTransfer();
      await fixture.watch();
      const { app, database } = fixture.server;
      const row = await app.transfers.findAny(database.reader, id);
      const { hold } = treasuryModule.rules(app).payoutExports;
      await database.write((transaction) => hold(transaction, row ? [row] : [], 'test'));
      expect(await nonceOf(treasury)).toBeGreaterThan(0);
      await expect(fixture.command(`transfers release ${id} --nonce 0`)).rejects.toThrow(
        /no nonce is a proof/,
      );
      // Nor is it given to another one.
      const exportId = (await list()).exports.find(({ transfers }) => transfers[0]?.id === id)?.id ?? '';
      expect(await statusOf(`/${exportId}/file`)).toBe(409);
      expect(await statusOf(`/${exportId}/answer`, { transfers: [id], answer: null })).toBe(409);
      expect(await statusOf(`/${exportId}/hand-over`, { transfers: [id], from: treasury })).toBe(409);
      await fixture.command(`transfers release ${id} --yes --reason Test`);
      await fail(id);
    });

    it('An owner can release a transfer with a reason, and the audit log has the owner and the reason', async () => {
      const { id, exportId } = await handed();
      expect(await statusOf(`/${exportId}/release-decision`, { reason: ' ' }, owner)).toBe(400);
      await ask(`/${exportId}/release-decision`, { reason: 'The key was destroyed' }, owner);
      const entry = (await audit()).find(
        ({ action, subjectId }) => action === 'transfer.released' && subjectId === id,
      );
      expect(entry?.actor).toMatch(/^olga@shop.example, owner/);
      expect(entry?.after).toMatchObject({ decision: 'The key was destroyed' });
      await fail(id);
    });

    it('A transfer cannot be released, not even by an owner, while a node has its transaction', async () => {
      const { id, exportId, call } = await handed();
      await anvil.automine(false);
      const answer = await anvil.rpc<string>('eth_sendTransaction', [{ from: treasury, ...call }]);
      await ask(`/${exportId}/answer`, { transfers: [id], answer });
      expect(await statusOf(`/${exportId}/release-decision`, { reason: 'Sure' }, owner)).toBe(409);
      await anvil.automine(true);
      await fixture.watch();
      expect(await transferStatus(id)).toBe('success');
    });

    it('A transfer stays reserved after the wallet refused it, and can be handed to the wallet again', async () => {
      const { id, exportId, nonce } = await handed();
      await ask(`/${exportId}/answer`, { transfers: [id], answer: null });
      expect(await statusOf(`/${exportId}/release`, { nonce: nonce - 1 })).toBe(409);
      await ask(`/${exportId}/hand-over`, { transfers: [id], from: treasury });
      expect(await statusOf(`/${exportId}/hand-over`, { transfers: [id], from: treasury })).toBe(409);
      await useNonce(treasury);
      await ask(`/${exportId}/release`, { nonce });
      await fail(id);
    });

    it('A transfer that the wallet refused is not handed over or written again if the account has since sent something', async () => {
      const { id, exportId, nonce } = await handed();
      await ask(`/${exportId}/answer`, { transfers: [id], answer: null });
      await transact(anvil, treasury, '0x', treasury);
      expect(await statusOf(`/${exportId}/hand-over`, { transfers: [id], from: treasury })).toBe(409);
      expect(await statusOf(`/${exportId}/file`)).toBe(409);
      await expect(
        fixture.command(`transfers export --network ${network} --format json --again ${exportId}`),
      ).rejects.toThrow(/may have sent it, although it refused/);
      await fixture.watch();
      await ask(`/${exportId}/release`, { nonce });
      await fail(id);
    });

    it('A transfer that the wallet refused with another can be handed over after the other one was paid', async () => {
      const [sent, other] = [await createTransfer(), await createTransfer()];
      const file = await ask<File>('', { network });
      const exportId = file.export ?? '';
      await ask(`/${exportId}/hand-over`, { transfers: [sent, other], from: treasury });
      await ask(`/${exportId}/answer`, { transfers: [sent, other], answer: null });
      await ask(`/${exportId}/hand-over`, { transfers: [sent], from: treasury });
      const call = file.transfers.find((one) => one.id === sent) ?? { to: '', data: '' };
      const { transactionHash: answer } = await transact(anvil, call.to, call.data, treasury);
      await ask(`/${exportId}/answer`, { transfers: [sent], answer });
      await fixture.watch();
      expect(await transferStatus(sent)).toBe('success');
      await ask(`/${exportId}/hand-over`, { transfers: [other], from: treasury });
      await fixture.command(`transfers release ${other} --yes --reason Test`);
      await fail(other);
    });

    it('A transfer is handed to no account other than that of its export', async () => {
      await fixture.setTreasury(second);
      await fixture.setTreasury();
      const id = await createTransfer();
      const { export: exportId } = await ask<File>('', { network });
      const given = { transfers: [id], from: second };
      expect(await statusOf(`/${exportId ?? ''}/hand-over`, given)).toBe(409);
      await ask(`/${exportId ?? ''}/hand-over`, { ...given, from: treasury });
      await fixture.command(`transfers release ${id} --yes --reason Test`);
      await fail(id);
    });

    it('A transfer is booked and reported if it is paid after an owner let it go and it failed', async () => {
      const { id, exportId, call, amount } = await handed();
      await ask(
        `/${exportId}/release-decision`,
        { reason: 'The signer says that nothing was signed' },
        owner,
      );
      const before = await fixture.custody('USDT');
      await fail(id);
      const given = await available();
      await transact(anvil, call.to, call.data, treasury);
      await fixture.watch();
      expect(await transferStatus(id)).toBe('success');
      expect(given - (await available())).toBeCloseTo(amount, 6);
      expect(before.treasury - (await fixture.custody('USDT')).treasury).toBe(unitsOf(amount));
      expect(await eventTypesOf(id)).toEqual(['transfer.failed', 'transfer.success']);
      expect(
        (await audit()).filter(({ subjectId }) => subjectId === id).map(({ action }) => action),
      ).toContain('transfer.paid_late');
      await fixture.booksInOrder();
    });

    it('The second payment of a transfer that was released and exported again is booked as a transfer of its own', async () => {
      const { id, exportId, call, amount } = await handed();
      await ask(`/${exportId}/release-decision`, { reason: 'The wallet shows nothing' }, owner);
      const again = await ask<File>('', { network });
      expect(again.transfers.map((one) => one.id)).toEqual([id]);
      const before = await fixture.custody('USDT');
      const hashes: string[] = [];
      for (let time = 0; time < 2; time += 1)
        hashes.push((await transact(anvil, call.to, call.data, treasury)).transactionHash);
      await fixture.watch();
      expect(before.treasury - (await fixture.custody('USDT')).treasury).toBe(2n * unitsOf(amount));
      const paid = (
        await fixture.command<{ id: string; amount: string; txHash?: string; status: string }[]>(
          `transfers list --merchant ${fixture.merchantId}`,
        )
      ).filter(({ txHash = '' }) => hashes.includes(txHash));
      expect(paid.map(({ status }) => status)).toEqual(['success', 'success']);
      expect(new Set(paid.map(({ txHash }) => txHash))).toEqual(new Set(hashes));
      const other = paid.find((one) => one.id !== id);
      expect(await eventTypesOf(other?.id ?? '')).toEqual(['transfer.success']);
      await fixture.booksInOrder();

      // The network drops the block of the second payment: it is gone, and waits for nobody.
      await anvil.reorg(confirmations + 1);
      await fixture.watch();
      await fixture.watch();
      expect(before.treasury - (await fixture.custody('USDT')).treasury).toBe(unitsOf(amount));
      expect(await transferStatus(other?.id ?? '')).toBe('failed');
      expect(await transferStatus(id)).toBe('success');
      await fixture.booksInOrder();
    });

    it('A failed transfer is booked if the signers of a replaced treasury pay its old file', async () => {
      const id = await createTransfer();
      const file = await ask<File>('', { network });
      const call = file.transfers.find((one) => one.id === id) ?? { to: '', data: '' };
      await ask(`/${file.export ?? ''}/release-decision`, { reason: 'The treasury changes' }, owner);
      await fixture.setTreasury(second);
      await fail(id);
      await transact(anvil, call.to, call.data, treasury);
      await fixture.watch();
      expect(await transferStatus(id)).toBe('success');
      await fixture.booksInOrder();
      await fixture.setTreasury();
    });

    it('A transfer is released only by a used nonce of the account it was handed to, even if the treasury has changed', async () => {
      const { id, exportId, nonce } = await handed();
      await fixture.setTreasury(second);
      expect(await nonceOf(second)).toBeLessThan(nonce);
      expect(await statusOf(`/${exportId}/release`, { nonce })).toBe(409);
      await useNonce(treasury);
      await ask(`/${exportId}/release`, { nonce });
      await fail(id);
      await fixture.setTreasury();
    });

    it('A wrong hash of a transfer can be corrected until a node has a transaction that pays it', async () => {
      const { id, exportId, call } = await handed();
      const answer = (hash: string | null) =>
        statusOf(`/${exportId}/answer`, { transfers: [id], answer: hash });
      const { transactionHash: other } = await transact(anvil, stranger, '0x', stranger);
      // A transaction that a node shows to pay something else is refused at once.
      expect(await answer(other)).toBe(400);
      // Nobody knows this one, and it is a mistake.
      expect(await answer(`0x${'12'.repeat(32)}`)).toBe(200);
      expect(await answer(null)).toBe(409);
      await anvil.automine(false);
      const sent = await anvil.rpc<string>('eth_sendTransaction', [{ from: treasury, ...call }]);
      expect(await answer(sent)).toBe(200);
      const kept = (await list()).exports.flatMap(({ transfers }) => transfers).find((one) => one.id === id);
      expect(kept?.walletAnswer).toBe(sent);
      expect(await answer(`0x${'34'.repeat(32)}`)).toBe(409);
      await anvil.automine(true);
      await fixture.watch();
      expect(await transferStatus(id)).toBe('success');
    });

    it('A transfer is not written again if the treasury has paid it in a block that is not final', async () => {
      const [paid, open] = [await createTransfer(), await createTransfer()];
      const file = await ask<File>('', { network });
      const call = file.transfers.find((one) => one.id === paid) ?? { to: '', data: '' };
      await transact(anvil, call.to, call.data, treasury);
      const again = await ask<File>(`/${file.export ?? ''}/file`);
      expect(again.transfers.map((one) => one.id)).toEqual([open]);
      expect(again.leftOut.map((one) => one.id)).toEqual([paid]);
      const byCommand = await fixture.command<File>(
        `transfers export --network ${network} --format json --again ${file.export ?? ''}`,
      );
      expect(byCommand.transfers.map((one) => one.id)).toEqual([open]);
      await fixture.watch();
      expect(await transferStatus(paid)).toBe('success');
      await fixture.command(`transfers release ${open} --yes --reason Test`);
      await fail(open);
    });

    it('A payment made shortly before a transfer was created does not settle the transfer', async () => {
      const amount = nextAmount();
      await payOut(unitsOf(amount));
      await fixture.scan();
      const id = await createTransfer(amount);
      await fixture.watch();
      expect(await transferStatus(id)).toBe('pending');
      const file = await ask<File>('', { network });
      expect(file.transfers.map((one) => one.id)).toEqual([id]);
      await payOut(unitsOf(amount));
      await fixture.watch();
      expect(await transferStatus(id)).toBe('success');
      // Earlier payments belong to no transfer.
      const { treasuries } = await fixture.command<Status>('chains status');
      const [outflow] = treasuries[0]?.outflows ?? [];
      expect(outflow).toMatchObject({ amount: String(amount), currency: 'USDT', address: destination });
      await fixture.command(
        `transfers explain ${outflow?.txHash ?? ''} --merchant ${fixture.merchantId} --network ${network} --note Test`,
      );
      await fixture.booksInOrder();
    });

    it('A transfer created while the recorded head of the chain is far too high is still settled by its payment', async () => {
      await fixture.server.database.write((transaction) =>
        transaction
          .updateTable('chain_cursors')
          .set((e) => ({ head_height: e('head_height', '+', 1000) }))
          .where('network', '=', network)
          .execute(),
      );
      const amount = nextAmount();
      const id = await createTransfer(amount);
      await payOut(unitsOf(amount));
      await fixture.watch();
      expect(await transferStatus(id)).toBe('success');
    });

    it('An earlier payment, or one by a stranger, cannot settle a transfer by hand without `--unverified`', async () => {
      const amount = nextAmount();
      const early = await payOut(unitsOf(amount));
      await fixture.watch();
      const id = await createTransfer(amount);
      await anvil.call('SilentToken', fixture.token, 'transfer', [stranger, 100_000_000n]);
      const foreign = await payOut(unitsOf(amount), stranger);
      await fixture.watch();
      const settle = (hash: string) => fixture.command(`transfers settle ${id} --tx-hash ${hash}`);
      await expect(settle(early)).rejects.toThrow(/before this transfer/);
      await expect(settle(foreign)).rejects.toThrow(/no treasury of the merchant/);
      expect(await statusOf(`/console/api/transfers/${id}/settle`, { txHash: foreign })).toBe(400);
      expect(await transferStatus(id)).toBe('pending');
      await fixture.command(`transfers settle ${id} --tx-hash ${foreign} --unverified`);
      expect(await transferStatus(id)).toBe('success');
      const [entry] = (await audit()).filter(({ subjectId }) => subjectId === id).slice(-1);
      expect(entry?.after).toMatchObject({ isUnverified: true });
      await fixture.command(
        `transfers explain ${early} --merchant ${fixture.merchantId} --network ${network} --note Test`,
      );
    });

    it('An outflow of a treasury that no transfer explains is recorded and reported until somebody says why', async () => {
      await fixture.watch();
      const unexplained = async () => (await fixture.command<Status>('chains status')).treasuries[0];
      expect(await unexplained()).toMatchObject({ unexplained: 0, outflows: [] });
      const shown = async () => {
        const figures = treasuryModule.rules(fixture.server.app).figures();
        const figure = figures.find(({ name }) => name === 'checkout_treasury_outflows');
        return (await figure?.read())?.[0]?.[1];
      };
      // A log of nothing, which tokens let anybody make; and a treasury moves to another one of the shop.
      await payOut(0n, treasury, stranger);
      await fixture.setTreasury(second);
      await payOut(3_000_000n, treasury, second);
      await fixture.setTreasury();
      await payOut(3_000_000n, second, treasury);
      await fixture.watch();
      expect(await unexplained()).toMatchObject({ unexplained: 0, outflows: [] });
      const token = await payOut(2_220_000n, treasury, stranger);
      const { transactionHash: coin } = await transact(anvil, stranger, '0x', treasury, 10n ** 15n);
      await fixture.watch();
      expect(await unexplained()).toMatchObject({
        unexplained: 2,
        outflows: [
          { txHash: token, amount: '2.22', currency: 'USDT', address: stranger },
          { txHash: coin, amount: '0.001', currency: 'ETH', address: stranger },
        ],
      });
      expect(await shown()).toBe(2);
      expect((await list()).unexplained.map(({ txHash }) => txHash)).toEqual([token, coin]);
      const explain = '/console/api/outflows/explain';
      const note = { network, txHash: token, note: 'To the exchange' };
      const eve = await elsewhere();
      expect(await statusOf(explain, note, eve)).toBe(404);
      expect(await statusOf(explain, note)).toBe(200);
      expect(await statusOf(explain, note)).toBe(404);
      expect(await statusOf(explain, { ...note, txHash: coin })).toBe(200);
      expect(await unexplained()).toMatchObject({ unexplained: 0, outflows: [] });
      expect(
        (await audit()).filter(({ action }) => action === 'treasury.explained').map((one) => one.subjectId),
      ).toEqual(expect.arrayContaining([token, coin]));
      await fixture.booksInOrder();
    });

    it('A transfer to another treasury of the shop is settled by its payment', async () => {
      const amount = nextAmount();
      const body = { amount, currency: 'USDT', walletAddress: second, walletNetwork: network };
      const { body: made } = await fixture.merchant.transfer(body);
      const { id } = made.data as { id: string };
      await payOut(unitsOf(amount), treasury, second);
      await fixture.watch();
      expect(await transferStatus(id)).toBe('success');
      await fixture.booksInOrder();
    });

    async function elsewhere(): Promise<TestBrowser> {
      const { id } = await fixture.command<{ id: string }>('merchants create --name Elsewhere');
      return signIn(fixture.server, 'owner', 'eve@elsewhere.example', id);
    }

    it('A transfer is not handed over, exported or written if the network has reverted the money for it', async () => {
      // All that the shop has.
      const first = await createTransfer(await available());
      await fixture.pay('USDT');
      const [one, two] = [await createTransfer(3), await createTransfer(2)];
      const file = await ask<File>('', { network });
      expect(new Set(file.transfers.map(({ id }) => id))).toEqual(new Set([first, one, two]));
      await fixture.command(`transfers release ${two} --yes --reason Test`);
      await anvil.reorg(confirmations + 2);
      await fixture.watch();
      const held = await ask<File>('', { network });
      expect(held).toMatchObject({ export: null, transfers: [] });
      expect(held.held).toMatchObject([
        { id: two, reason: expect.stringMatching(/reverted deposits/) as string },
      ]);
      expect(
        await statusOf(`/${file.export ?? ''}/hand-over`, { transfers: [first, one], from: treasury }),
      ).toBe(409);
      const again = await ask<File>(`/${file.export ?? ''}/file`);
      expect(again.held.length).toBeGreaterThan(0);
      expect(again.transfers.length).toBeLessThan(2);
      await fixture.booksInOrder();
    });
  });
