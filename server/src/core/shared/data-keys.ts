/**
 * Encrypts values that a reader of the database or of a backup must not see: AES-256-GCM, with keys in a file outside of
 * both. An encrypted value names its key, so values under a previous key can be read until they are rotated.
 */
import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;
/** Before the key's id, a colon, and the IV, tag and text in base64url. */
const prefix = 'sealed:';
const idLength = 8;
const headLength = prefix.length + idLength;
/** 192 bits. */
const indexLength = 32;

export type DataKeys = ReturnType<typeof createDataKeys>;

class DataKeyError extends Error {
  override readonly name = 'DataKeyError';
}

/** @param text keys in base64, one a line: the first encrypts, all decrypt. @throws DataKeyError, which shows none of it */
export function parseDataKeys(text: string): DataKeys {
  const keys = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line, index) => {
      const key = Buffer.from(line, 'base64');
      if (key.length !== keyBytes || !/^[A-Za-z0-9+/]{43}=$/.test(line)) {
        throw new DataKeyError(
          `line ${index + 1} is not a key of ${keyBytes} bytes in base64. Make one with: openssl rand -base64 ${keyBytes}`,
        );
      }
      return key;
    });
  if (keys.length === 0) {
    throw new DataKeyError(`it has no key. Make one with: openssl rand -base64 ${keyBytes}`);
  }
  return createDataKeys(keys);
}

export const noDataKeys: DataKeys = createDataKeys([]);

/** @param keys the first encrypts */
function createDataKeys(keys: readonly Buffer[]) {
  const byId = new Map(keys.map((key) => [hash('sha256', key, 'hex').slice(0, idLength), key]));
  const [first] = byId;
  // Keys of their own, so that no key is used in two ways.
  const indexKeys = keys.map((key) => createHmac('sha256', key).update('index').digest());
  const indexWith = (key: Buffer, text: string, place: string) =>
    createHmac('sha256', key).update(`${place}\0${text}`).digest('base64url').slice(0, indexLength);
  const idOf = (stored: string) =>
    stored.startsWith(prefix) ? stored.slice(prefix.length, headLength) : undefined;
  return {
    /** The id of the key that encrypts; undefined: nothing is encrypted. */
    current: first?.[0],
    /** The ids of all keys. */
    ids: [...byId.keys()],

    /** @param place the column and the record of the value. A value that was moved to another place cannot be opened there */
    seal(text: string, place: string): string {
      if (!first) return text;
      const [id, key] = first;
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      const body = Buffer.concat([iv, cipher.getAuthTag(), sealed]);
      return `${prefix}${id}:${body.toString('base64url')}`;
    },

    /** Reads a value, encrypted or not. @throws if its key is missing, or it was changed or moved */
    open(stored: string, place: string): string {
      const id = idOf(stored);
      if (id === undefined) return stored;
      const key = byId.get(id);
      if (!key) throw new DataKeyError(`the key ${id} is missing`);
      const body = Buffer.from(stored.slice(headLength + 1), 'base64url');
      const decipher = createDecipheriv(algorithm, key, body.subarray(0, ivBytes), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(Buffer.from(place)).setAuthTag(body.subarray(ivBytes, ivBytes + tagBytes));
      try {
        return decipher.update(body.subarray(ivBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
      } catch (cause) {
        throw new DataKeyError(`a value of ${place} was changed past the server`, { cause });
      }
    },

    /** True if a value is as `seal` would write it now. */
    isCurrent: (stored: string) => idOf(stored) === first?.[0],

    /**
     * The index that finds a text in the database without showing it: the same for the same text and place. The text
     * itself if nothing is encrypted.
     */
    index(text: string, place: string): string {
      const [key] = indexKeys;
      return key ? indexWith(key, text, place) : text;
    },

    /** The indexes that `index` returned for it under any of the keys, or before there was one. */
    indexes: (text: string, place: string) => [...indexKeys.map((key) => indexWith(key, text, place)), text],
  };
}
