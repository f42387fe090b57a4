/** Identifies the providers of nodes, as far as their URLs show them: two of one provider are no second opinion. */
import ipaddr from 'ipaddr.js';

/** Networks of one's own, where each port is another node. */
const ownRanges = new Set([
  'loopback',
  'private',
  'uniqueLocal',
  'linkLocal',
  'carrierGradeNat',
  'unspecified',
]);
const isOwnName = (name: string) =>
  !name.includes('.') || /\.(local|localhost|internal|lan|intranet|home\.arpa)$/.test(name);

interface Host {
  /** Nodes with the same one are one provider's. */
  readonly id: string;
  /** The part of a public name that its owner registered, as far as that is clear without a list of all suffixes. */
  readonly domain?: string;
  readonly isPublicAddress?: boolean;
}

function hostOf(url: string): Host {
  if (!URL.canParse(url)) return { id: url };
  const { hostname, port, protocol } = new URL(url);
  const name = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const withPort = (text: string) => `${text} ${port || (protocol === 'https:' ? '443' : '80')}`;
  if (ipaddr.isValid(name)) {
    const address = ipaddr.process(name);
    const range = address.range();
    if (range === 'loopback' || range === 'unspecified') return { id: withPort('localhost') };
    if (ownRanges.has(range)) return { id: withPort(address.toString()) };
    return { id: address.toString(), isPublicAddress: true };
  }
  if (name === 'localhost' || name.endsWith('.localhost')) return { id: withPort('localhost') };
  if (isOwnName(name)) return { id: withPort(name) };
  const labels = name.split('.');
  const [suffix = '', second = ''] = labels.toReversed();
  // As in co.uk and com.br.
  const isLong = suffix.length === 2 && second.length <= 3 && labels.length > 2;
  return { id: name, domain: labels.slice(isLong ? -3 : -2).join('.') };
}

/** @returns for each node the first one at its host, by their places */
export function firstOfProviders(urls: readonly string[]): number[] {
  const hosts = urls.map((url) => hostOf(url).id);
  return hosts.map((host) => hosts.indexOf(host));
}

export const countProviders = (urls: readonly string[]): number => new Set(firstOfProviders(urls)).size;

export interface ProviderDoubt {
  /** `node 2` for the second of the configuration. */
  readonly node: string;
  /** A sentence without the full stop. It names nodes by their places, since hosts can hold the name of an account. */
  readonly text: string;
}

/** Why nodes may not be of different providers, although they are counted as such; and those that are not. */
export function doubtProviders(urls: readonly string[]): ProviderDoubt[] {
  const hosts = urls.map(hostOf);
  return hosts.flatMap((host, index) => {
    const node = `node ${index + 1}`;
    const before = hosts.slice(0, index);
    const same = before.findIndex(({ id }) => id === host.id);
    if (same >= 0) {
      return { node, text: `It is at the same host as node ${same + 1}, so the two count as one provider` };
    }
    const related = before.findIndex(({ domain }) => domain !== undefined && domain === host.domain);
    if (related >= 0) {
      return {
        node,
        text: `Its host is of the same domain as that of node ${related + 1}. If one company runs both, no second provider checks large payments: use a node of another`,
      };
    }
    if (host.isPublicAddress && hosts.length > 1) {
      return {
        node,
        text: 'Its URL has an address in place of a name, which does not show whose it is. Make sure that it is not the provider of another node',
      };
    }
    return [];
  });
}
