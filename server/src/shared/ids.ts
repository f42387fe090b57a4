/** Record ids: 128 random bits as 26 characters of Crockford's base32. */
import { randomBytes } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

export type NewId = () => string;

const randomBits = (bytes: number) => BigInt(`0x${randomBytes(bytes).toString('hex')}`);

function textOf(given: bigint): string {
  let [bits, id] = [given, ''];
  for (let position = 0; position < 26; position += 1) {
    id = alphabet.charAt(Number(bits & 31n)) + id;
    bits >>= 5n;
  }
  return id;
}

export const newId: NewId = () => textOf(randomBits(16));

/**
 * The same for what is sorted by its time and then by its id: each that is made less than a second after another is above it, by 64
 * random bits.
 * @param now epoch milliseconds
 */
export function createOrderedIds(now: () => number): NewId {
  let [last, at] = [0n, Number.NEGATIVE_INFINITY];
  return () => {
    const time = now();
    last = time - at < 1000 ? last + randomBits(8) + 1n : randomBits(16);
    at = time;
    return textOf(last);
  };
}
