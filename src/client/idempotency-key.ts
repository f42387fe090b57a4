/** Idempotency keys: random, so that nobody can guess another payer's key. */

/** 128 random bits in hex. Not `crypto.randomUUID`, which pages without https do not have. */
export function createIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
