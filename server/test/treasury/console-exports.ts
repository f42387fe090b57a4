/** Exports of transfers in the console: what they write and reserve, for whom, and who may let them go. */
import { getAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { safeChecksum } from '../../src/modules/treasury/safe-batch.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { signIn, type TestBrowser } from '../support/browser.js';
import type { TestEngine } from '../support/engines.js';
import { transact } from '../support/forwarders.js';
import { startProviderProxy, type ProviderProxy } from '../support/provider-proxy.js';
import { confirmations, openTreasury, treasury, type TreasuryFixture } from './treasury-fixture.js';
import { treasury as treasuryModule } from '../../src/modules/treasury/module.js';

const destination = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
const path = '/console/api/payout-exports';
const network = 'evm-dev';
const signal = new AbortController().signal;

interface File {
  readonly export: string | null;
  readonly transfers: readonly { readonly id: string; readonly to: string; readonly data: string }[];
  readonly safe: {
    readonly chainId: string;
    readonly transactions: unknown;
    readonly meta: { checksum: string };
  };
}
interface Listed {
  readonly waiting: readonly { readonly network: string; readonly count: number; readonly by: string }[];
  readonly exports: readonly {
    readonly id: string;
    readonly transfers: readonly { readonly id: string }[];
  }[];
}

export const testConsoleExports = (engine: TestEngine): unknown =>
  describe(`in the console, transfers of a treasury on ${engine.name}`, () => {
    let anvil: Anvil;
    let node: ProviderProxy;
    let fixture: TreasuryFixture;
    let ada: TestBrowser;
    let owner: TestBrowser;
    /** Of another merchant. */
    let eve: TestBrowser;

    beforeAll(async () => {
      anvil = await startAnvil();
      node = await startProviderProxy(anvil.url);
      fixture = await openTreasury(engine, { anvil, network: { nodes: [node.url] } });
      await fixture.setTreasury();
      await fixture.pay('USDT');
      const { transactions } = await fixture.command<{ transactions: { to: string; data: string }[] }>(
        `sweeps export --network ${network} --format json`,
      );
      for (const { to, data } of transactions) await transact(anvil, to, data);
      await fixture.watch();
      ada = await signIn(fixture.server, 'manager', 'ada@shop.example');
      owner = await signIn(fixture.server, 'owner', 'olga@shop.example');
      const { id } = await fixture.command<{ id: string }>('merchants create --name Elsewhere');
      eve = await signIn(fixture.server, 'owner', 'eve@elsewhere.example', id);
    });
    afterAll(async () => {
      await fixture.stop();
      await node.close();
      await anvil.stop();
    });

    async function createTransfer(amount: number): Promise<string> {
      const body = { amount, currency: 'USDT', walletAddress: destination, walletNetwork: network };
      const made = await ada.send('POST', '/v1/transfers', { body });
      expect(made.body, JSON.stringify(made.body)).toMatchObject({ status: 'success' });
      return (made.body.data as unknown as { id: string }).id;
    }
    const ask = async <T>(browser: TestBrowser, where: string, body: object = {}) =>
      (await browser.send('POST', `${path}${where}`, { body })).body.data as unknown as T;
    const letGo = (exportId: string) =>
      ask(owner, `/${exportId}/release-decision`, { reason: 'None was signed' });
    const list = async (browser = ada) => (await browser.send('GET', path)).body.data as unknown as Listed;
    const code = async (browser: TestBrowser, where: string, body: object = {}, options = {}) => {
      const answer = await browser.send('POST', `${path}${where}`, { body, ...options });
      return [answer.status, (answer.body.data as { code?: string } | undefined)?.code];
    };

    it('the console exports transfers once, with the same calls as the command, and records the person', async () => {
      const id = await createTransfer(1.01);
      expect((await list()).waiting).toEqual([{ network, count: 1, by: 'calls' }]);
      const file = await ask<File>(ada, '', { network });
      expect(file.transfers).toMatchObject([{ id, amount: '1.01', to: getAddress(fixture.token) }]);
      expect(file.safe.transactions).toMatchObject([
        { to: getAddress(fixture.token), data: file.transfers[0]?.data },
      ]);
      const { checksum, ...meta } = file.safe.meta;
      expect(checksum).toBe(safeChecksum({ ...file.safe, meta }));
      const exportId = file.export ?? '';
      expect(await list()).toMatchObject({ waiting: [], exports: [{ id: exportId, transfers: [{ id }] }] });
      expect((await ask<File>(ada, '', { network })).export).toBeNull();
      const again = await ask<File>(ada, `/${exportId}/file`);
      const byCommand = await fixture.command<Omit<File, 'safe'>>(
        `transfers export --network ${network} --format json --again ${exportId}`,
      );
      expect(again.transfers).toMatchObject(byCommand.transfers.map(({ data, to }) => ({ data, to })));
      const audit = await fixture.command<{ action: string; actor: string; subjectId: string }[]>(
        `audit list --merchant ${fixture.merchantId}`,
      );
      const entry = audit.find(({ subjectId }) => subjectId === exportId);
      expect(entry).toMatchObject({ action: 'transfer.exported' });
      expect(entry?.actor).toMatch(/^ada@shop.example, manager .*, request /);
    });

    it('an export of another merchant or of the other mode is answered as not found', async () => {
      const [open] = (await list()).exports;
      const id = open?.id ?? '';
      const transfer = open?.transfers[0]?.id ?? '';
      expect(await list(eve)).toEqual({ waiting: [], exports: [], unexplained: [] });
      expect(await ask<File>(eve, '', { network })).toMatchObject({
        export: null,
        transfers: [],
        leftOut: [],
      });
      const live = { headers: { 'X-Checkout-Mode': 'live' } };
      for (const one of [id, transfer, 'nobody']) {
        const bodies = { file: {}, release: { nonce: 1 }, 'release-decision': { reason: 'None was signed' } };
        for (const [verb, body] of Object.entries(bodies)) {
          expect(await code(eve, `/${one}/${verb}`, body)).toEqual([404, 'not_found']);
          expect(await code(owner, `/${one}/${verb}`, body, live)).toEqual([404, 'not_found']);
        }
      }
      expect((await list()).exports).toMatchObject([{ id }]);
    });

    it('transfers are released if an owner decides that nothing was signed, but not by a nonce that is unused', async () => {
      const [open] = (await list()).exports;
      const id = open?.id ?? '';
      expect(await code(ada, `/${id}/release`)).toEqual([400, 'validation_error']);
      const nonce = Number(await anvil.rpc('eth_getTransactionCount', [treasury, 'latest']));
      expect(await code(ada, `/${id}/release`, { nonce })).toEqual([409, 'invalid_state']);
      const decision = { reason: 'None was signed' };
      const released = await ask<{ transfers: string[] }>(owner, `/${id}/release-decision`, decision);
      expect(released.transfers).toEqual(open?.transfers.map((one) => one.id));
      expect(await list()).toMatchObject({ waiting: [{ network, count: 1 }], exports: [] });
      expect(await code(owner, `/${id}/release-decision`, decision)).toEqual([404, 'not_found']);
    });

    it('a repeated release of an old export is refused while a new export reserves the transfers', async () => {
      const { payoutExports } = treasuryModule.rules(fixture.server.app);
      const why = { decision: 'None was signed' };
      const first = await ask<File>(ada, '', { network });
      const seen = await payoutExports.find(first.export ?? '', {});
      await payoutExports.release(seen, why, 'test', signal);
      const second = await ask<File>(ada, '', { network });
      await expect(payoutExports.release(seen, why, 'test', signal)).rejects.toThrow(/another export/);
      expect((await list()).exports).toMatchObject([{ id: second.export }]);
    });

    it('an export cannot be released if a transfer of it was paid after the export was looked up', async () => {
      const id = await createTransfer(1.05);
      const { payoutExports } = treasuryModule.rules(fixture.server.app);
      const file = await ask<File>(ada, '', { network });
      const seen = await payoutExports.find(file.export ?? '', {});
      const call = file.transfers.find((one) => one.id === id);
      const { status, transactionHash } = await transact(anvil, call?.to ?? '', call?.data ?? '', treasury);
      expect(status).toBe('0x1');
      await fixture.watch();
      const { reader } = fixture.server.database;
      const paid = reader.selectFrom('treasury_payments').selectAll().where('tx_hash', '=', transactionHash);
      expect(await paid.execute()).toMatchObject([{ transfer_id: id, is_certain: 1 }]);
      await expect(payoutExports.release(seen, { decision: 'Test' }, 'test', signal)).rejects.toThrow(
        /has ended meanwhile/,
      );
      const released = await reader
        .selectFrom('transfer_exports')
        .select('transfer_id')
        .where('id', '=', file.export ?? '')
        .where('released_at', 'is not', null)
        .execute();
      expect(released).toEqual([]);
    });

    it("a release keeps payments that another merchant's treasury may have made to the same address", async () => {
      const [open] = (await list()).exports;
      const place = { mode: 'test', network, currency: 'USDT', address: destination } as const;
      const row = {
        ...place,
        amount: '1010000',
        gas: '0',
        is_certain: 0 as const,
        tx_hash: `0x${'ab'.repeat(32)}`,
        output_index: 0,
        treasury: getAddress(fixture.token),
        block_height: 1,
        block_hash: `0x${'cd'.repeat(32)}`,
        paid_at: 1,
        transfer_id: null,
        is_exact: 1 as const,
        may_settle: 1 as const,
        note: null,
        noted_by: null,
        noted_at: null,
      };
      await fixture.server.database.write((transaction) =>
        transaction.insertInto('treasury_payments').values(row).execute(),
      );
      await letGo(open?.id ?? '');
      const { database } = fixture.server;
      const kept = database.reader
        .selectFrom('treasury_payments')
        .selectAll()
        .where('tx_hash', '=', row.tx_hash);
      expect(await kept.execute()).toHaveLength(1);
    });

    it('transfers are handed to a wallet once, and released only if the transaction it sent can no longer be mined', async () => {
      const id = await createTransfer(1.07);
      const [before] = (await list()).exports;
      if (before) await letGo(before.id);
      const file = await ask<File>(ada, '', { network });
      const transfers = file.transfers.map((one) => one.id);
      const to = `/${file.export ?? ''}`;
      const hand = (from: string, given = transfers) => ({ transfers: given, from });
      expect(await code(ada, `${to}/hand-over`, hand(destination))).toEqual([400, 'validation_error']);
      expect(await code(eve, `${to}/hand-over`, hand(treasury))).toEqual([404, 'not_found']);
      expect(await code(ada, `${to}/hand-over`, hand(treasury, ['nobody']))).toEqual([404, 'not_found']);
      expect(await code(ada, `${to}/answer`, { transfers, answer: null })).toEqual([409, 'invalid_state']);
      // Two pages at the same moment, or one that was closed before the wallet had answered.
      const both = await Promise.all([1, 2].map(() => code(ada, `${to}/hand-over`, hand(treasury))));
      expect(both.map(([status]) => status).sort()).toEqual([200, 409]);
      expect(await code(ada, `${to}/file`)).toEqual([409, 'invalid_state']);
      await expect(
        fixture.command(`transfers export --network ${network} --format json --again ${file.export ?? ''}`),
      ).rejects.toThrow(/handed to a wallet/);
      // The wallet has refused: it may be asked again.
      expect(await code(ada, `${to}/answer`, { transfers, answer: null })).toEqual([200, undefined]);
      const nonce = Number(await anvil.rpc('eth_getTransactionCount', [treasury, 'latest']));
      expect(await code(ada, `${to}/hand-over`, hand(treasury))).toEqual([200, undefined]);
      await anvil.automine(false);
      const call = file.transfers.find((one) => one.id === id);
      const sent = await anvil.rpc<string>('eth_sendTransaction', [
        { from: treasury, to: call?.to, data: call?.data },
      ]);
      expect(await code(eve, `${to}/answer`, { transfers, answer: sent })).toEqual([404, 'not_found']);
      expect(await code(ada, `${to}/answer`, { transfers, answer: '0xba7c4' })).toEqual([200, undefined]);
      expect(await code(ada, `${to}/answer`, { transfers, answer: sent })).toEqual([200, undefined]);
      for (const answer of [null, '0xba7c4', `0x${'12'.repeat(32)}`]) {
        expect(await code(ada, `${to}/answer`, { transfers, answer })).toEqual([409, 'invalid_state']);
      }
      expect((await list()).exports).toMatchObject([
        { chain: { chainId: 31337 }, transfers: transfers.map(() => ({ walletAnswer: sent })) },
      ]);

      const released = [409, 'invalid_state'];
      expect(await code(owner, `${to}/release-decision`, { reason: 'None was signed' })).toEqual(released);
      await expect(fixture.command(`transfers release ${id} --yes --reason Checked`)).rejects.toThrow(
        /has sent/,
      );
      expect(await code(ada, `${to}/release`, { nonce: 0 })).toEqual(released);
      await anvil.rpc('anvil_dropTransaction', [sent]);
      expect(await code(ada, `${to}/release`, { nonce })).toEqual(released);
      await anvil.automine(true);
      await transact(anvil, treasury, '0x', treasury);
      await fixture.watch();
      expect(await code(ada, `${to}/release`, { nonce })).toEqual([200, undefined]);
    });

    it('a transfer that the treasury has paid is not handed to a wallet', async () => {
      const file = await ask<File>(ada, '', { network });
      const [first] = file.transfers;
      const { id, to, data } = first ?? { id: '', to: '', data: '' };
      await transact(anvil, to, data, treasury);
      const hand = { transfers: [id], from: treasury };
      expect(await code(ada, `/${file.export ?? ''}/hand-over`, hand)).toEqual([409, 'invalid_state']);
      await fixture.watch();
      expect((await list()).exports[0]?.transfers.map((one) => one.id)).not.toContain(id);
      await letGo(file.export ?? '');
    });

    it('transfers are settled by the transaction that paid them, or failed, only in the shop of the person who asks', async () => {
      const id = await createTransfer(1.02);
      const hand = async (browser: TestBrowser, verb: string, body: object) => {
        const where = `/console/api/transfers/${id}/${verb}`;
        const { status, body: answer } = await browser.send('POST', where, { body });
        return [status, answer.data.code ?? (answer.data as unknown as { status: string }).status];
      };
      const file = await ask<File>(ada, '', { network });
      const call = file.transfers.find((one) => one.id === id);
      const reason = { reason: 'No longer needed' };
      expect(await hand(ada, 'fail', reason)).toEqual([409, 'invalid_state']);
      // Another wallet of the shop pays: the watcher, which reads what treasuries pay, does not settle it.
      const { transactionHash: txHash } = await transact(anvil, call?.to ?? '', call?.data ?? '');
      const { transactionHash: other } = await transact(anvil, treasury, '0x', treasury);
      expect(await hand(ada, 'settle', { txHash })).toEqual([400, 'validation_error']);
      expect(await hand(ada, 'settle', { txHash: other })).toEqual([400, 'validation_error']);
      expect(await hand(eve, 'settle', { txHash })).toEqual([404, 'not_found']);
      // Nor does a person: payments of other accounts are not looked at.
      expect(await hand(ada, 'settle', { txHash })).toEqual([400, 'validation_error']);
      const { transactionHash: paid } = await transact(anvil, call?.to ?? '', call?.data ?? '', treasury);
      expect(await hand(ada, 'settle', { txHash: paid })).toEqual([409, 'invalid_state']);
      await anvil.mine(confirmations);
      await fixture.scan();
      expect(await hand(ada, 'settle', { txHash: paid })).toEqual([200, 'success']);
      await fixture.booksInOrder();

      await letGo(file.export ?? '');
      const [left] = file.transfers.filter((one) => one.id !== id);
      const failed = { body: reason };
      const where = `/console/api/transfers/${left?.id ?? ''}/fail`;
      expect((await eve.send('POST', where, failed)).status).toBe(404);
      expect((await ada.send('POST', where, failed)).body.data).toMatchObject({ status: 'failed' });
      const audit = await fixture.command<{ action: string; actor: string; subjectId: string }[]>(
        `audit list --merchant ${fixture.merchantId}`,
      );
      const byAda = audit
        .filter(({ actor }) => actor.startsWith('ada@shop.example, manager'))
        .map((one) => [one.action, one.subjectId]);
      const last = byAda.slice(-3).filter(([action]) => action !== 'console.change');
      // On a busy machine, the watcher may have settled it before.
      const isByHand = last.length === 3;
      expect(last).toEqual([
        ['transfer.exported', file.export],
        ...(isByHand ? [['transfer.settled', id]] : []),
        ['transfer.failed', left?.id],
      ]);
    });

    it('an export needs a network that calls can pay on, and a node that answers', async () => {
      expect(await code(ada, '', { network: 'tron' })).toEqual([400, 'validation_error']);
      await createTransfer(1.03);
      node.respond = (response) => {
        response.destroy();
        return true;
      };
      expect(await code(ada, '', { network })).toEqual([503, 'chain_unavailable']);
      node.respond = undefined;
    });
  });
