/** A retention is one number: every text that says it says what the server does. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { retention, spellPeriod } from '../../src/core/shared/retention.js';

const periods = {
  delivered: retention.webhookMs.delivered,
  failed: retention.webhookMs.failed,
  reply: retention.idempotencyMs,
  payersReply: retention.payerIdempotencyMs,
  secret: retention.previousSecretMs,
  idle: retention.sessionIdleMs,
  session: retention.sessionMs,
  signIn: retention.signInLinkMs,
  refund: retention.refundLinkMs,
  mail: retention.mailMs,
  visitor: retention.linkVisitorMs,
};

/** The texts as they are, with the name of a period in place of it. */
const texts: readonly (readonly [file: string, text: string])[] = [
  ['docs/retention.md', '{delivered} if delivered, {failed} if given up'],
  ['docs/retention.md', "{reply}; a payer's changes {payersReply}"],
  ['docs/retention.md', '{secret}. They still sign during that time'],
  ['docs/retention.md', 'sessions {session} at most, or {idle} without use; links {signIn}'],
  ['docs/retention.md', '{mail}; never their texts'],
  ['docs/mail.md', 'for {mail},'],
  ['docs/links.md', 'a digest of it is kept for {visitor}'],
  ['docs/links.md', 'An order can be started over for {visitor},'],
  ['docs/webhooks.md', 'Delivered events are deleted after {delivered}, failed ones after {failed}.'],
  ['docs/webhooks.md', 'For the next {secret} every event is signed with both secrets'],
  ['docs/webhooks.md', 'each old secret still signs for its full {secret}.'],
  ['docs/webhooks.md', 'it stays valid until the {secret} are over'],
  ['docs/webhooks.md', 'Nobody gave an address for {refund}'],
  ['docs/refunds.md', 'The link is valid for {refund}'],
  ['docs/console.md', 'It ends after {idle} without use, after {session}'],
  ['docs/console.md', 'which works once, within {signIn}.'],
  ['docs/console.md', 'the previous one signs for another {secret}'],
  ['docs/errors.md', 'It happens after {idle} without use, {session} after signing in'],
  ['docs/security-review.md', 'Met: {idle} without use, {session} at most.'],
  ['docs/security-review.md', 'works once, for {signIn}'],
  ['docs/api-decisions.md', 'is remembered for {reply}.'],
  ['docs/api-decisions.md', 'is remembered for {payersReply}, and its reply is not stored'],
  [
    'server/src/core/reference/openapi-components.json',
    'For {reply}, a repeated request with the same key changes nothing',
  ],
  ['plugins/medusa/src/jobs/ask-again.ts', 'A refund waits up to {refund} for its payer.'],
  ['src/contract/refunds.ts', 'which is valid for {refund}.'],
  ['src/contract/console-people.ts', 'It works once, for {signIn}.'],
  ['src/contract/console-settings.ts', 'For {secret}, events are signed with the previous one too.'],
  ['console/messages/settings.ts', 'It signs in once, within {signIn}.'],
  ['console/messages/settings.ts', 'ends after {signIn}.'],
  ['console/messages/refunds.ts', 'and works for {refund}.'],
  ['console/messages/payments.ts', 'It works for {refund}, and can be replaced'],
  ['console/messages/common.ts', 'it works once, for {signIn}.'],
  ['console/messages/developers.ts', 'For {secret}, events are signed with the previous secret too.'],
];

const fill = (text: string): string =>
  Object.entries(periods).reduce(
    (filled, [name, ms]) => filled.replaceAll(`{${name}}`, spellPeriod(ms)),
    text,
  );

const files = new Map(
  await Promise.all(
    [...new Set(texts.map(([file]) => file))].map(async (file) => {
      const text = await readFile(join(import.meta.dirname, '../../..', file), 'utf8');
      return [file, text.replace(/\s+/g, ' ')] as const;
    }),
  ),
);

describe('The periods for which data is kept', () => {
  test.each(texts)('%s says “%s” as the server does it', (file, text) => {
    expect(text).not.toBe(fill(text));
    // The whole text would hide the sentence.
    expect(files.get(file)?.includes(fill(text)), fill(text)).toBe(true);
  });

  test('A period is written in the unit that a reader would choose', () => {
    const spelled = [30 * 60_000, 3_600_000, 12 * 3_600_000, 86_400_000, 7 * 86_400_000].map(spellPeriod);
    expect(spelled).toEqual(['30 minutes', 'one hour', '12 hours', '24 hours', '7 days']);
  });
});
