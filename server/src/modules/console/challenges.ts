/**
 * Challenges that passkeys sign. Anybody can ask for one, so nothing is stored of those that go out: each carries its time and a
 * code that only this server can make, and is remembered from its answer on, so that nobody answers it twice.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Database } from '../../core/db/database.js';
import type { Transaction } from '../../core/db/engine.js';
import { ensureSetting, readSetting } from '../../core/db/settings.js';
import type { Clock } from '../../core/shared/clock.js';
import { newToken, tokenDigest } from '../../core/shared/token.js';
import * as store from './people-store.js';

const challengeMs = 5 * 60_000;
const settingName = 'passkey challenges';
const timeBytes = 6;
const randomPart = 16;

export function createChallenges(database: Database, clock: Clock) {
  let known: string | undefined;

  async function key(): Promise<string> {
    known ??=
      (await readSetting(database.reader, settingName)) ??
      (await database.write((transaction) => ensureSetting(transaction, settingName, newToken())));
    return known;
  }

  const codeOf = (secret: string, purpose: string, head: Buffer) =>
    createHmac('sha256', secret).update(`${purpose} `).update(head).digest();

  return {
    /** Reads the key that challenges are made with. Call it before a transaction that checks one. */
    prepare: key,

    /** @param purpose the purpose of the answer: it counts for nothing else */
    async create(purpose: string): Promise<Buffer> {
      const head = Buffer.alloc(timeBytes + randomPart);
      head.writeUIntBE(clock.real() + challengeMs, 0, timeBytes);
      randomBytes(randomPart).copy(head, timeBytes);
      return Buffer.concat([head, codeOf(await key(), purpose, head)]);
    },

    /** True if a challenge is ours, for this purpose, in time, and unanswered so far. It is answered from now on. */
    async answer(transaction: Transaction, challenge: string, purpose: string): Promise<boolean> {
      const bytes = Buffer.from(challenge, 'base64url');
      const head = bytes.subarray(0, timeBytes + randomPart);
      const code = bytes.subarray(timeBytes + randomPart);
      if (known === undefined || code.length !== 32) return false;
      if (!timingSafeEqual(code, codeOf(known, purpose, head))) return false;
      const expiresAt = head.readUIntBE(0, timeBytes);
      if (clock.real() >= expiresAt) return false;
      return store.answerChallenge(transaction, tokenDigest(bytes.toString('base64url')), expiresAt);
    },
  };
}
