/** Reads node URLs, and keeps the credentials in them out of every message. */

/** The address of a node, and the way to reach it. */
export type NodeTarget = ReturnType<typeof readNodeUrl>;

/** Parts of a path that say which API it is. All others may be a key. */
const plainSegments = new Set(['jsonrpc', 'rpc', 'mainnet', 'testnet', 'wallet', 'api', 'http', 'https']);
const hidden = '[hidden]';

/**
 * @param text an http or https URL. It can have credentials in its user, path or query
 * @param headers are sent with each request, and count as credentials
 * @throws if it is not such a URL. The message does not contain it
 */
export function readNodeUrl(text: string, headers: Readonly<Record<string, string>> = {}) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new Error('A node needs a URL that starts with https:// or http://');
  }
  const { username, password } = url;
  // The host too: with some providers, it has the name of the account.
  const secrets = new Set([
    text,
    url.href,
    url.host,
    url.hostname,
    username,
    password,
    safeDecode(username),
    safeDecode(password),
    ...url.pathname.split('/').filter((segment) => segment.length >= 6 && !plainSegments.has(segment)),
    ...[...url.searchParams.values()],
    url.search.slice(1),
    ...Object.values(headers),
  ]);
  const sent: Record<string, string> = { ...headers };
  if (username || password) {
    const pair = `${safeDecode(username)}:${safeDecode(password)}`;
    const encoded = Buffer.from(pair).toString('base64');
    sent['authorization'] = `Basic ${encoded}`;
    secrets.add(encoded);
    url.username = '';
    url.password = '';
  }
  secrets.add(url.href);
  // Longer ones first: a shorter one can be a part of them.
  const ordered = [...secrets].filter((secret) => secret.length >= 3).sort((a, b) => b.length - a.length);
  return {
    /** Without user name and password: `fetch` refuses them in a URL. */
    url: url.href,
    headers: sent,
    /** Replaces everything that could be a credential. Applied to all text that a node or the network stack returns. */
    redact: (message: string) => ordered.reduce((rest, secret) => rest.replaceAll(secret, hidden), message),
  };
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
