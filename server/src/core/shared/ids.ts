/** Record ids: 128 random bits as 26 characters of Crockford's base32. */
import { randomFillSync } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

export type NewId = () => string;

const idBytes = 16;
/** Random bytes for the next ids: asking for them costs more than the rest of an id. */
const pool = Buffer.alloc(idBytes * 128);
let used = pool.length;

export const newId: NewId = () => {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let id = '';
  // The first character has only 3 bits: 26 characters have 130.
  let bits = 0;
  let count = 2;
  for (const end = used + idBytes; used < end; used += 1) {
    bits = ((bits << 8) | pool.readUInt8(used)) & 0xfff;
    count += 8;
    for (; count >= 5; count -= 5) id += alphabet.charAt((bits >> (count - 5)) & 31);
  }
  return id;
};
