/** Signatures of messages (DKIM), which the receiver checks with the public key. */
import { createHash, createVerify, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../src/core/config.js';
import { mailSettings } from '../../src/modules/mail/settings.js';
import { createTransports } from '../../src/modules/mail/transport.js';
import { openSink, type Sink } from '../support/mail-sink.js';

let sink: Sink;
let folder: string;
beforeAll(async () => {
  sink = await openSink();
  folder = await mkdtemp(join(tmpdir(), 'dkim-'));
});
afterAll(async () => {
  await sink.stop();
  await rm(folder, { recursive: true, force: true });
});

const transportWith = (more: Readonly<Record<string, string>>) =>
  createTransports(
    readConfig({ SMTP_URL: sink.url, MAIL_FROM: 'pay@checkout.example', ...more }, mailSettings),
  );

it('A message is signed by the key for its domain, body and headers', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const file = join(folder, 'key.pem');
  await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const transport = await transportWith({ MAIL_DKIM_KEY_FILE: file, MAIL_DKIM_SELECTOR: 'pay' })?.open();
  const failure = await transport?.send({
    id: 'one',
    to: 'payer@example.com',
    fromName: 'Shop',
    replyTo: undefined,
    offUrl: 'http://127.0.0.1/off',
    subject: 'Hello',
    text: 'Hello',
    html: '<p>Hello</p>',
  });
  transport?.close();
  expect(failure).toBeUndefined();
  const [head = '', ...rest] = (sink.letters[0]?.raw ?? '').split('\r\n\r\n');
  const headers = head.split(/\r\n(?![ \t])/);
  const signature = headers.find((line) => /^dkim-signature:/i.test(line)) ?? '';
  const tags = new Map(
    signature
      .slice(signature.indexOf(':') + 1)
      .split(';')
      .map((part) => [part.split('=')[0]?.trim(), part.slice(part.indexOf('=') + 1).replace(/\s/g, '')]),
  );
  expect([tags.get('d'), tags.get('s'), tags.get('c')]).toEqual([
    'checkout.example',
    'pay',
    'relaxed/relaxed',
  ]);
  const relaxed = (line: string) => {
    const at = line.indexOf(':');
    const value = line
      .slice(at + 1)
      .replace(/\r\n/g, '')
      .replace(/[ \t]+/g, ' ')
      .trim();
    return `${line.slice(0, at).toLowerCase().trim()}:${value}`;
  };
  const body = rest
    .join('\r\n\r\n')
    .replace(/[ \t]+\r\n/g, '\r\n')
    .replace(/[ \t]+/g, ' ')
    .replace(/(?:\r\n)*$/, '\r\n');
  expect(createHash('sha256').update(body, 'latin1').digest('base64')).toBe(tags.get('bh'));
  const names = (tags.get('h') ?? '').toLowerCase().split(':');
  expect(names).toEqual(expect.arrayContaining(['from', 'to', 'subject']));
  const signed = names.map((name) =>
    relaxed(headers.find((line) => line.toLowerCase().startsWith(`${name}:`)) ?? ''),
  );
  const own = relaxed(signature).replace(/b=[^;]*$/, 'b=');
  const check = createVerify('sha256').update([...signed, own].join('\r\n'), 'latin1');
  expect(check.verify(publicKey, tags.get('b') ?? '', 'base64')).toBe(true);
});

it.each([
  [{ MAIL_DKIM_SELECTOR: 'pay' }, /set both or none/],
  [
    { MAIL_DKIM_SELECTOR: 'pay', MAIL_DKIM_KEY_FILE: '/nowhere/key.pem' },
    /MAIL_DKIM_KEY_FILE: .*no such file/,
  ],
])('Settings that cannot be used are refused at the start: %o', (more, reason) => {
  expect(() => transportWith(more)).toThrow(reason);
});
