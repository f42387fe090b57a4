/** Messages to the people of a team, over SMTP to a real mail server, on both engines. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mail } from '../../src/modules/mail/module.js';
import { openBrowser, invite, signIn, type TestBrowser } from '../support/browser.js';
import { enginesOfQuick } from '../support/engines.js';
import { externalAddresses, openShop, type Shop } from '../support/shop.js';
import { openSink, type Letter, type Sink } from '../support/mail-sink.js';
import { startServer, type TestServer } from '../support/server.js';

const { signal } = new AbortController();
const own = '/console/api/mail/own';

describe.each(enginesOfQuick)('Messages to a team, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let sink: Sink;
  let owner: TestBrowser;
  let support: TestBrowser;
  let directory: string;
  let passed = 0;
  let startedAt: number;
  beforeAll(async () => {
    sink = await openSink();
    // A network whose node does not answer.
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
    const file = join(directory, 'networks.json');
    const nodes = ['http://127.0.0.1:9'];
    await writeFile(file, JSON.stringify({ networks: { 'evm-dev': { nodes } } }));
    const env = {
      SMTP_URL: sink.url,
      MAIL_FROM: 'pay@checkout.example',
      NETWORKS_FILE: file,
      LOG_LEVEL: 'fatal',
    };
    startedAt = Date.now();
    server = await startServer({ engine, env, overrides: { realNow: () => Date.now() + passed } });
    merchant = openShop(server);
    owner = await signIn(server, 'owner', 'ada@shop.example');
    support = await signIn(server, 'support', 'bob@shop.example');
  });
  afterAll(async () => {
    await server.stop();
    await sink.stop();
    await rm(directory, { recursive: true });
  });

  const rules = () => mail.rules(server.app);
  const choose = (who: TestBrowser, kinds: readonly string[], language = 'en') =>
    who.send('PATCH', own, { body: { kinds, language } });
  const lettersTo = async (email: string): Promise<Letter[]> => {
    await rules().send(signal);
    return sink.letters.filter(({ recipients }) => recipients.includes(email));
  };
  async function letterTo(email: string, subject: RegExp): Promise<Letter> {
    return vi.waitFor(
      async () => {
        const all = await lettersTo(email);
        const found = all.find((letter) => subject.test(letter.subject ?? ''));
        if (!found) throw new Error(`Only: ${all.map((one) => one.subject).join(', ')}`);
        return found;
      },
      { timeout: 8000, interval: 50 },
    );
  }
  const sendAll = () =>
    vi.waitFor(
      async () => {
        await rules().send(signal);
        expect(await rules().countDue()).toBe(0);
      },
      { timeout: 30_000, interval: 50 },
    );
  async function payLate(): Promise<string> {
    const { id, address } = await merchant.lock();
    await merchant.ask('PATCH', `/v1/payments/${id}/cancel`);
    await merchant.pay(address, 10);
    return id;
  }

  it('A person who has chosen no messages gets none', async () => {
    await payLate();
    await signIn(server, 'owner', 'ada@shop.example');
    await rules().send(signal);
    expect(sink.letters).toEqual([]);
  });

  it('Each person chooses among the messages that their role may see', async () => {
    const { body } = await support.send('GET', own);
    expect(body.data).toMatchObject({
      isOn: true,
      kinds: [],
      language: 'en',
      offered: ['needsPerson', 'refundToApprove', 'webhookFailing', 'nodeBehind', 'signIn', 'digest'],
    });
    const refused = await choose(support, ['newKey']);
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain('newKey: the role support may not see it');
    const { body: all } = await owner.send('GET', own);
    expect(all.data['offered']).toHaveLength(8);
    expect((await choose(owner, all.data['offered'] as string[], 'xx')).status).toBe(400);
    expect((await choose(owner, all.data['offered'] as string[], 'fr')).body.data).toMatchObject({
      kinds: all.data['offered'],
      language: 'fr',
    });
    expect((await choose(support, ['needsPerson', 'signIn'])).status).toBe(200);
  });

  it('A message that a payment needs a person is sent once, in the language of each, and leads to the console', async () => {
    const id = await payLate();
    const letter = await letterTo('bob@shop.example', /needs attention/);
    expect(letter.from?.name).toBe('Nightjar Lanterns');
    expect(letter.text).toContain('Money came after the time to pay.');
    expect(letter.text).toContain(`/console/test/payment/${id}`);
    // Neither the page of the payer nor a link of a refund.
    expect(letter.text).not.toMatch(/\/(?:pay|receipt|refund)[/#]/);
    expect(letter.html).not.toMatch(/<img|<script|<form/);
    expect((await letterTo('ada@shop.example', /attend une personne/)).text).toContain('après le délai');
    await merchant.mine();
    const about = (await lettersTo('bob@shop.example')).filter(({ text }) => text?.includes(id));
    expect(about).toHaveLength(1);
  });

  it('A message announces a refund that waits for approval, unless somebody has already decided on it', async () => {
    await choose(owner, ['refundToApprove']);
    const refund = async () => {
      const id = await payLate();
      return merchant.refund(id, { kind: 'full', address: externalAddresses.tron });
    };
    await refund();
    const letter = await letterTo('ada@shop.example', /waits for approval/);
    expect(letter.subject).toMatch(/A refund of 9\.90 USDT waits/);
    expect(letter.text).not.toContain(externalAddresses.tron);

    await sink.stop();
    const { id } = await refund();
    await rules().send(signal);
    await merchant.ask('POST', `/v1/refunds/${id}/cancel`, { body: {} });
    sink = await openSink({}, Number(new URL(sink.url).port));
    // The server's own job may still wait for the mail server that was down, and note the next try only then.
    await vi.waitFor(
      async () => {
        await server.database.write(async (transaction) => {
          await transaction.updateTable('mails').set({ due_at: 0 }).where('due_at', 'is not', null).execute();
        });
        await rules().send(signal);
        expect(await rules().countDue()).toBe(0);
      },
      { timeout: 30_000, interval: 50 },
    );
    expect(sink.letters.filter(({ subject }) => subject?.includes('approval'))).toEqual([]);
  });

  it('A message about a sign-in goes only to the person who signed in', async () => {
    await choose(owner, ['signIn']);
    const before = (await lettersTo('bob@shop.example')).length;
    await signIn(server, 'owner', 'ada@shop.example');
    const letter = await letterTo('ada@shop.example', /You signed in/);
    expect(letter.text).toMatch(/as you, at 20\d\d-\d\d-\d\d \d\d:\d\d UTC/);
    expect((await lettersTo('bob@shop.example')).length).toBe(before);
  });

  it('A message about a new key has no part of the key', async () => {
    await choose(owner, ['newKey']);
    const { body } = await owner.send('POST', '/console/api/keys', {
      body: { kind: 'secret', scope: 'read', label: 'Books' },
    });
    const letter = await letterTo('ada@shop.example', /new key/i);
    const { key } = body.data as { key: string };
    expect(letter.raw).not.toContain(key.slice(-4));
  });

  it('Failing webhooks are reported once a day', async () => {
    await choose(owner, ['webhookFailing']);
    const hooks = { body: { url: 'http://127.0.0.1:9/hooks' } };
    expect((await owner.send('PATCH', '/console/api/webhook', hooks)).status).toBe(200);
    await payLate();
    for (const seconds of [60, 600, 3600, 14_400]) {
      await merchant.advance(seconds);
      await vi.waitFor(
        async () => {
          const rows = await server.database.reader
            .selectFrom('outbox')
            .select(['due_at', 'tries'])
            .where('status', '=', 'pending')
            .execute();
          const now = server.app.clock.now({ merchantId: server.bootstrapped.merchantId, mode: 'test' });
          expect(rows.every(({ due_at: due }) => due !== null && due > now)).toBe(true);
        },
        { timeout: 10_000, interval: 50 },
      );
    }
    await letterTo('ada@shop.example', /is not accepting webhooks/);
    const all = await lettersTo('ada@shop.example');
    expect(all.filter(({ subject }) => subject?.includes('webhooks'))).toHaveLength(1);
    await owner.send('PATCH', '/console/api/webhook', { body: { url: '' } });
  });

  it('A network that stays behind is reported once a day, and one that is briefly behind is not', async () => {
    await choose(owner, ['nodeBehind']);
    await rules().staff.lookAtNetworks();
    // The server's own job may have looked before, at any time since the start.
    const elapsed = Date.now() - startedAt;
    passed += 4.5 * 60_000 - elapsed;
    await rules().staff.lookAtNetworks();
    expect((await lettersTo('ada@shop.example')).some(({ subject }) => subject?.includes('is behind'))).toBe(
      false,
    );
    passed += 0.5 * 60_000 + elapsed;
    await rules().staff.lookAtNetworks();
    await rules().staff.lookAtNetworks();
    await letterTo('ada@shop.example', /is behind/);
    const all = await lettersTo('ada@shop.example');
    expect(all.filter(({ subject }) => subject?.includes('is behind'))).toHaveLength(1);
  });

  it('A digest sums up a day once, with its payments and the work that waits', async () => {
    await choose(owner, ['digest']);
    await merchant.fund({ amount: 10 });
    await merchant.advance(86_400 + 6 * 3600);
    await Promise.all([rules().staff.addDigests(), rules().staff.addDigests()]);
    const letter = await letterTo('ada@shop.example', /Nightjar Lanterns on 20\d\d-/);
    expect(letter.text).toMatch(/Paid on 20\d\d-\d\d-\d\d: .*USD \(\d+\)|Paid on .*: nothing/);
    expect(letter.text).toMatch(/Waiting for a person: [1-9]/);
    const all = await lettersTo('ada@shop.example');
    expect(all.filter(({ subject }) => subject?.includes('Lanterns on'))).toHaveLength(1);
  });

  it('A person gets at most thirty messages of a kind a day', async () => {
    await choose(owner, ['newKey']);
    const before = (await lettersTo('ada@shop.example')).length;
    const { merchantId } = server.bootstrapped;
    for (let count = 0; count < 40; count += 1)
      await server.database.write((transaction) =>
        server.app.accountChanges.createKey(
          transaction,
          { merchantId, mode: 'test', kind: 'public', scope: undefined, label: 'x', expiresAt: undefined },
          'test',
        ),
      );
    await sendAll();
    // One came before, of the key of another test.
    expect((await lettersTo('ada@shop.example')).length - before).toBe(29);
  });

  it('A person who has left the team gets no more messages', async () => {
    const token = await invite(server, 'manager', 'eve@shop.example');
    const eve = openBrowser(server.url);
    await eve.send('POST', '/console/api/sign-in', { body: { token } });
    expect((await choose(eve, ['needsPerson', 'signIn'])).status).toBe(200);
    await payLate();
    await letterTo('eve@shop.example', /needs attention/);
    const team = (await owner.send('GET', '/console/api/team')).body.data as unknown as {
      id: string;
      email: string;
    }[];
    const id = team.find(({ email }) => email === 'eve@shop.example')?.id ?? '';
    expect((await owner.send('DELETE', `/console/api/team/${id}`)).status).toBe(200);
    const before = (await lettersTo('eve@shop.example')).length;
    await payLate();
    await rules().send(signal);
    expect((await lettersTo('eve@shop.example')).length).toBe(before);
    await rules().staff.forget();
    const rows = await server.database.reader
      .selectFrom('mail_staff_choices')
      .selectAll()
      .where('person_id', '=', id)
      .execute();
    expect(rows).toEqual([]);
  });

  it('The link in a message turns off all messages of that person only', async () => {
    await payLate();
    const letter = await letterTo('bob@shop.example', /needs attention/);
    const [link = ''] = /\S+\/mail\/off\/\S+/.exec(letter.text ?? '') ?? [];
    const page = await (await fetch(link)).text();
    expect(page).toContain('no more messages about Nightjar Lanterns');
    expect((await fetch(link, { method: 'POST' })).status).toBe(200);
    expect((await support.send('GET', own)).body.data['kinds']).toEqual([]);
    expect((await owner.send('GET', own)).body.data['kinds']).toEqual(['newKey']);
  });

  it('A command chooses the messages of a person, and a page of the console those to payers', async () => {
    const { merchantId } = server.bootstrapped;
    const where = ['--merchant', merchantId, '--mode', 'test'];
    const chosen = await merchant.command(
      'mail',
      'staff',
      ...where,
      '--email',
      'Bob@shop.example',
      '--kinds',
      'all',
    );
    expect(chosen).toMatchObject({
      email: 'Bob@shop.example',
      kinds: ['needsPerson', 'refundToApprove', 'webhookFailing', 'nodeBehind', 'signIn', 'digest'],
    });
    const nobody = ['--email', 'nobody@shop.example', '--kinds', 'all'];
    expect(await merchant.refusal('mail', 'staff', ...where, ...nobody)).toMatch(/person/);
    const payers = '/console/api/mail/payers';
    const body = { kinds: ['receipt'], language: 'fr', replyTo: 'help@shop.example' };
    expect((await owner.send('PATCH', payers, { body })).body.data).toMatchObject({ ...body, isOn: true });
    expect((await owner.send('GET', payers)).body.data).toMatchObject(body);
    expect((await support.send('GET', payers)).status).toBe(403);
    expect((await owner.send('PATCH', payers, { body: { ...body, replyTo: 'x' } })).status).toBe(400);
  });

  it('The reply address changes only after a fresh sign-in, and the audit log has only its domain', async () => {
    const payers = '/console/api/mail/payers';
    owner = await signIn(server, 'owner', 'ada@shop.example');
    const answerAt = (replyTo: string) =>
      owner.send('PATCH', payers, { body: { kinds: ['receipt'], language: 'fr', replyTo } });
    for (const replyTo of ['help@shop.example', 'eve@shop.example', 'eve@elsewhere.example'])
      expect((await answerAt(replyTo)).status).toBe(200);
    const log = await owner.send('GET', '/console/api/audit-log?action=mail.chosen');
    const [moved, renamed] = log.body.data as unknown as { before: object; after: object }[];
    expect(moved).toMatchObject({
      before: { replyTo: 'shop.example' },
      after: { replyTo: 'elsewhere.example', isReplyToNew: true },
    });
    expect(renamed).toMatchObject({ after: { isReplyToNew: true } });
    expect(JSON.stringify(log.body.data)).not.toMatch(/(help|eve)@/);

    passed += 11 * 60_000;
    expect((await answerAt('mal@elsewhere.example')).body.data.code).toBe('step_up_required');
    passed -= 11 * 60_000;
    expect((await owner.send('GET', payers)).body.data['replyTo']).toBe('eve@elsewhere.example');
  });
});
