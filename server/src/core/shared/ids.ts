/** Record ids: 128 random bits as 26 characters of Crockford's base32. */
import { randomBytes } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

export type NewId = () => string;

export const newId: NewId = () => {
  let bits = BigInt(`0x${randomBytes(16).toString('hex')}`);
  let id = '';
  for (let position = 0; position < 26; position += 1) {
    id = alphabet.charAt(Number(bits & 31n)) + id;
    bits >>= 5n;
  }
  return id;
};
