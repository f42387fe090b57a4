/** The secrets in links and of sessions. Only their digests are stored. */
import { hash, randomBytes } from 'node:crypto';

/** 256 bits. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** SHA-256 in hex: a token has too many bits to be guessed from it. */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'hex');
}
