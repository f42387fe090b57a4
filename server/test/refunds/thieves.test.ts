/** Attempts to get another's refund, or more of it, over real HTTP on both engines. */
import { addr, eip191Signer } from 'micro-eth-signer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/core/log.js';
import type { Answer } from '../support/call.js';
import { claimTokenOf, openClaimBrowser } from '../support/claim-browser.js';
import { engines, enginesOfTurn } from '../support/engines.js';
import { externalAddresses, openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

const thief = 'TMuA6YqfCeX8EhbfYEg5y7S4DqzSJireY9';

describe.each(enginesOfTurn)('A thief, on $name', (engine) => {
  const lines: string[] = [];
  let server: TestServer;
  let merchant: Shop;
  beforeAll(async () => {
    const log = createLog('debug', { write: (line) => void lines.push(line) });
    server = await startServer({ engine, log });
    merchant = openShop(server);
    await merchant.fund({ amount: 100 });
    await merchant.fund({ network: 'ethereum', amount: 100 });
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  const post = (path: string, body: object = {}, key: string | undefined = server.secretKey) =>
    server.api('POST', path, { body, key });
  /** In a browser without a past, as a thief has one. */
  const claim = (token: string, address?: string, signature?: string) =>
    openClaimBrowser(server).claim(token, address, signature);
  async function refund(body: object, network = 'tron') {
    const { id: paymentId } = await merchant.fund({ amount: 15, network });
    const made = await merchant.refund(paymentId, body);
    return { id: made.id, paymentId, token: claimTokenOf(made) };
  }
  const code = ({ status, body }: Answer) => [status, body.data.code];
  const gone = [404, 'not_found'];

  it('A thief gets nothing from the payment’s id, its page, a public key, or another shop’s key', async () => {
    const { id, paymentId, token } = await refund({ kind: 'excess' });
    const page = await server.api('GET', `/v1/payments/${paymentId}`, { key: server.publicKey });
    expect(JSON.stringify(page.body)).not.toMatch(new RegExp(`${id}|${token}|claim`));
    for (const key of [server.publicKey, await server.foreignKey('public', 'test')]) {
      expect(code(await post(`/v1/refunds/${id}/approve`, {}, key))).toEqual([403, 'secret_key_required']);
    }
    const foreign = await server.foreignKey('secret', 'test');
    for (const way of ['approve', 'cancel', 'link']) {
      expect(code(await post(`/v1/refunds/${id}/${way}`, {}, foreign))).toEqual(gone);
    }
    expect(code(await server.api('GET', `/v1/refunds/${id}`, { key: foreign }))).toEqual(gone);
    expect(code(await post(`/v1/payments/${paymentId}/refunds`, { kind: 'full' }, foreign))).toEqual(gone);
    const theirs = await server.api('GET', '/v1/refunds', { key: foreign });
    expect(theirs.body.data).toEqual([]);
    for (const guess of [paymentId, id, token.slice(1), `${token}A`, 'A'.repeat(43)]) {
      expect(code(await claim(guess))).toEqual(gone);
      expect(code(await claim(guess, thief))).toEqual(gone);
    }
  });

  it('A thief cannot use a link that was replaced, nor one of a cancelled refund', async () => {
    const { id, token } = await refund({ kind: 'excess' });
    const { claimUrl } = (await post(`/v1/refunds/${id}/link`)).body.data as { claimUrl: string };
    const renewed = new URL(claimUrl).hash.slice(1);
    expect(code(await claim(token, thief))).toEqual(gone);
    expect((await claim(renewed)).status).toBe(200);
    await post(`/v1/refunds/${id}/cancel`);
    expect(code(await claim(renewed, thief))).toEqual(gone);
    expect(code(await post(`/v1/refunds/${id}/link`))).toEqual([409, 'invalid_state']);
  });

  it('A thief cannot send a refund to an address of the shop, to nobody, or to no address at all', async () => {
    const { token } = await refund({ kind: 'excess' });
    const { address: ours } = await merchant.lock();
    for (const [address, message] of [
      [ours, /belongs to the shop/],
      ['T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', /Nobody has this address/],
      ['TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy', /Nobody has this address/],
      [`${thief.slice(0, -1)}8`, /checksum/],
      [externalAddresses.evm, /not a valid address on/],
      [token, /not a valid address on/],
    ] as const) {
      const answer = await claim(token, address);
      expect(code(answer)).toEqual([400, 'invalid_address']);
      expect(answer.body.message).toMatch(message);
    }
  });

  it('A thief cannot change the address with only the link, and the browser that gave it can until the approval', async () => {
    const { id, token } = await refund({ kind: 'excess' });
    const payer = openClaimBrowser(server);
    expect((await payer.claim(token, externalAddresses.tron)).status).toBe(200);
    expect(code(await claim(token, thief))).toEqual([409, 'invalid_state']);
    const seenByThief = (await claim(token)).body.data;
    expect(seenByThief).toMatchObject({ address: 'TJRabP…RTv8', canSetAddress: false });
    expect((await payer.claim(token)).body.data).toMatchObject({ canSetAddress: true });
    // A reply that was lost is asked for again, and gives nobody the right to change it.
    expect((await claim(token, externalAddresses.tron)).status).toBe(200);
    const stranger = openClaimBrowser(server);
    await stranger.claim(token, externalAddresses.tron);
    expect(code(await stranger.claim(token, thief))).toEqual([409, 'invalid_state']);
    expect((await payer.claim(token, thief)).status).toBe(200);
    const seen = { address: externalAddresses.tron };
    expect(code(await post(`/v1/refunds/${id}/approve`, seen))).toEqual([409, 'invalid_state']);
    await payer.claim(token, externalAddresses.tron);
    const before = (await merchant.arrived(thief)).length;
    const { transferId } = (await post(`/v1/refunds/${id}/approve`, seen)).body.data;
    expect(code(await payer.claim(token, thief))).toEqual([409, 'invalid_state']);
    await merchant.until(String(transferId), 'success');
    expect(code(await payer.claim(token, thief))).toEqual([409, 'invalid_state']);
    expect(await merchant.arrived(thief)).toHaveLength(before);
  });

  it('No script and no other site can use the cookie of a refund, and it opens no other refund', async () => {
    const one = await refund({ kind: 'excess' });
    const other = await refund({ kind: 'excess' });
    const payer = openClaimBrowser(server);
    await payer.claim(one.token, externalAddresses.tron);
    expect(payer.given).toEqual([
      expect.stringMatching(
        /^refund-[0-9a-f]{16}=[\w-]{43}; Path=\/v1\/refund-claims; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
      ) as string,
    ]);
    expect(payer.given[0]).not.toContain(one.id);
    const owner = openClaimBrowser(server);
    await owner.claim(other.token, externalAddresses.tron);
    expect(code(await payer.claim(other.token, thief))).toEqual([409, 'invalid_state']);
  });

  it('A thief has a new chance only with a new link, which the shop makes', async () => {
    const { id, token } = await refund({ kind: 'excess' });
    await claim(token, externalAddresses.tron);
    const { claimUrl } = (await post(`/v1/refunds/${id}/link`)).body.data as { claimUrl: string };
    const renewed = new URL(claimUrl).hash.slice(1);
    expect((await claim(renewed)).body.data).toMatchObject({ canSetAddress: true, address: 'TJRabP…RTv8' });
    expect((await claim(renewed, thief)).status).toBe(200);
    expect(code(await claim(renewed, externalAddresses.tron))).toEqual([409, 'invalid_state']);
  });

  it('A refund is paid once, however many approve at once', async () => {
    const { id, token } = await refund({ kind: 'excess' });
    await claim(token, externalAddresses.tron);
    const before = (await merchant.arrived(externalAddresses.tron)).length;
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(`/v1/refunds/${id}/approve`)));
    const transfers = new Set(answers.map(({ body }) => body.data['transferId']));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    expect(transfers.size).toBe(1);
    await merchant.until(String([...transfers][0]), 'success');
    expect(await merchant.arrived(externalAddresses.tron)).toHaveLength(before + 1);
  });

  it('A thief gets no more than came, no matter who asks, or how many at once', async () => {
    const { id: paymentId } = await merchant.fund({ amount: 15 });
    const path = `/v1/payments/${paymentId}/refunds`;
    const much = { kind: 'partial', amount: 15.01, refundFee: true };
    expect(code(await post(path, much))).toEqual([409, 'invalid_state']);
    expect(code(await post(path, { kind: 'partial', amount: 14.86 }))).toEqual([409, 'invalid_state']);
    const half = () => post(path, { kind: 'partial', amount: 5 });
    const answers = await Promise.all(Array.from({ length: 5 }, half));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect((await post(path, { kind: 'full' })).body.data['amount']).toBe(4.85);
    expect(code(await post(path, { kind: 'excess' }))).toEqual([409, 'invalid_state']);
  });

  it('An address is not "same wallet" without a signature of the wallet that paid, for this refund and this address', async () => {
    const key = `0x${'7'.repeat(64)}`;
    const payer = addr.fromPrivateKey(key);
    const { id, paymentId, token } = await refund({ kind: 'excess' }, 'ethereum');
    // The simulated network has senders without keys.
    await server.database.write((transaction) =>
      transaction
        .updateTable('receipts')
        .set({ senders: JSON.stringify([payer]) })
        .where('payment_id', '=', paymentId)
        .execute(),
    );
    const payers = openClaimBrowser(server);
    const { signatureText } = (await payers.claim(token)).body.data as { signatureText: string };
    expect(signatureText).toContain(id);
    const signed = (address: string, by = key) =>
      eip191Signer.sign(signatureText.replace('{address}', address), by);
    const sameWallet = async (address: string, signature?: string) =>
      (await payers.claim(token, address, signature)).body.data['sameWallet'];
    expect(await sameWallet(payer, signed(payer))).toBe(true);
    expect(await sameWallet(externalAddresses.evm, signed(payer))).toBe(false);
    expect(await sameWallet(payer, signed(payer, `0x${'8'.repeat(64)}`))).toBe(false);
    expect(await sameWallet(payer.toLowerCase(), signed(payer.toLowerCase()))).toBe(true);
    expect(await sameWallet(payer)).toBe(null);
    expect(await sameWallet(payer, '0x1234')).toBe(false);
    expect(code(await payers.claim(token, payer, '0x123'))).toEqual([400, 'validation_error']);
  });

  it('A thief finds no token in the log, the database, or a reply that was stored', async () => {
    const { id: paymentId } = await merchant.fund({ amount: 15 });
    const options = { body: { kind: 'excess' }, headers: { 'Idempotency-Key': `refund ${paymentId}` } };
    const first = await server.api('POST', `/v1/payments/${paymentId}/refunds`, options);
    const again = await server.api('POST', `/v1/payments/${paymentId}/refunds`, options);
    const { claimUrl = '', ...record } = first.body.data as { claimUrl?: string };
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body.data).toEqual(record);
    const token = new URL(claimUrl).hash.slice(1);
    await claim(token);
    await claim(token, externalAddresses.tron);
    await claim(`${token}x`);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('')).not.toContain(token);
    for (const table of ['refunds', 'outbox', 'idempotency_replies', 'audit_log', 'log_entries'] as const) {
      const rows = await server.database.reader.selectFrom(table).selectAll().execute();
      expect(rows.length, table).toBeGreaterThan(table === 'outbox' ? -1 : 0);
      expect(JSON.stringify(rows), table).not.toContain(token);
    }
    const audit = await server.database.reader.selectFrom('audit_log').select('after').execute();
    expect(JSON.stringify(audit), 'log entries are never deleted').not.toContain(externalAddresses.tron);
  });
});

describe('On a server with limits', () => {
  let server: TestServer;
  let merchant: Shop;
  beforeAll(async () => {
    const [engine] = engines;
    if (!engine) throw new Error('There is no engine');
    server = await startServer({ engine, env: { RATE_LIMIT: 'on' } });
    merchant = openShop(server);
    await merchant.fund({ amount: 100 });
  });
  afterAll(() => server.stop());
  const guess = (path: string, body: object) =>
    server.api('POST', `/v1/refund-claims/${path}`, { key: undefined, body });

  it('people who follow their refunds from one address keep nobody out, and guesses are few', async () => {
    const { id } = await merchant.fund({ amount: 15 });
    const token = claimTokenOf(await merchant.refund(id, { kind: 'excess' }));
    for (let times = 0; times < 40; times += 1) {
      expect((await guess('retrieve', { token })).status).toBe(200);
    }
    // Those who sign in to the console come from the same office.
    const wrong = () =>
      server.api('POST', '/console/api/sign-in', {
        key: undefined,
        body: { token: 'A'.repeat(43) },
        headers: { 'Sec-Fetch-Site': 'same-origin' },
      });
    for (let tries = 0; tries < 10; tries += 1) expect((await wrong()).status).toBe(404);
    expect((await wrong()).status).toBe(429);
    for (let tries = 0; tries < 5; tries += 1) {
      expect((await guess('retrieve', { token: 'A'.repeat(43) })).status).toBe(404);
      expect((await guess('address', { token: 'A'.repeat(43), address: thief })).status).toBe(404);
    }
    const eleventh = await guess('retrieve', { token: 'A'.repeat(43) });
    expect([eleventh.status, eleventh.body.data.code]).toEqual([429, 'rate_limited']);
    expect(Number(eleventh.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
