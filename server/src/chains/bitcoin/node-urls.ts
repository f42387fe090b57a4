/** Fills in the credentials of a node's URL from Bitcoin Core's cookie file. */
import { readFileSync } from 'node:fs';

/**
 * The URL with the user and password in a cookie file, if it names one: `http://HOST:PORT/?cookie=FILE`, with the path of
 * the `.cookie` that the node writes into its data directory when it starts, and deletes when it stops.
 * @param name what the node is called in messages
 * @returns the URL, and why the cookie file could not be read, in a sentence without it; undefined if there is nothing wrong
 * @throws if the URL has a password too
 */
export function withCookie(text: string, name: string): { url: string; problem: string | undefined } {
  // What is not a URL is refused where URLs are read.
  if (!hasCookie(text)) return { url: text, problem: undefined };
  const url = new URL(text);
  const file = url.searchParams.get('cookie') ?? '';
  if (url.username || url.password) {
    throw new Error(`The URL of ${name} has both a password and a cookie file. Use one of them`);
  }
  url.searchParams.delete('cookie');
  try {
    const [user = '', password = ''] = readFileSync(file, 'utf8').trim().split(':', 2);
    url.username = user;
    url.password = password;
    return { url: url.href, problem: undefined };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    const problem = `The cookie file of ${name} cannot be read (${code}). The node writes it when it starts. If it runs, allow this server's user to read the file, or use rpcauth`;
    return { url: url.href, problem };
  }
}

export function hasCookie(text: string): boolean {
  return URL.canParse(text) && new URL(text).searchParams.has('cookie');
}
