/** Fills in the credentials of a node's URL from Bitcoin Core's cookie file. */
import { readFileSync } from 'node:fs';

/**
 * The URL with the user and password in a cookie file, if it names one: `http://HOST:PORT/?cookie=FILE`, with the path of
 * the `.cookie` that the node writes into its data directory.
 * @throws if the file cannot be read. Messages never contain credentials
 */
export function withCookie(text: string): string {
  const cookie = cookieOf(text);
  // What is not a URL is refused where URLs are read.
  if (cookie === null) return text;
  const url = new URL(text);
  if (url.username || url.password) {
    throw new Error('A node URL has both a password and a cookie file. Use one of them');
  }
  url.searchParams.delete('cookie');
  [url.username = '', url.password = ''] = readCookie(cookie).split(':', 2);
  return url.href;
}

/** Whether the credentials change each time the node starts. */
export function hasCookie(text: string): boolean {
  return cookieOf(text) !== null;
}

function cookieOf(text: string): string | null {
  return URL.canParse(text) ? new URL(text).searchParams.get('cookie') : null;
}

function readCookie(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new Error(
      `A node's cookie file could not be read (${code}). The node writes it when it starts; allow this server's user to read it, or use rpcauth`,
      { cause: error },
    );
  }
}
