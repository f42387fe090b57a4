/** Which addresses webhooks may go to: never to what this server can reach and whoever sets the URL should not. */
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { errorMessage } from '../shared/error-message.js';
import type { Mode } from '../shared/scope.js';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a host name. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface Targets {
  /** Checks the scheme, and the host where it is an address already. @throws TargetRefused */
  check(url: URL, mode: Mode): void;
  /**
   * For connections: resolves a name once, and hands on its addresses if all of them are allowed, so that what is
   * checked is what is connected to. Fails with TargetRefused.
   */
  lookup(mode: Mode): LookupFunction;
}

/** An address that webhooks are not sent to. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Subnet = readonly [Address, number];

/** Where clouds answer whoever asks from inside with credentials, and everything that is local to one wire. */
const never = [
  '169.254.0.0/16',
  'fe80::/10',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
].map(parseSubnet);
/** All that is routed in public; the rest of IPv6 is reserved, local or leads to IPv4 addresses by a detour. */
const globalIpv6 = parseSubnet('2000::/3');
/** What a developer's own machine and network use. */
const developersRanges = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);

/** @param allowed subnets such as `10.1.0.0/16` that live mode may reach though they are not public */
export function createTargets(allowed: readonly string[], resolve: Resolve = resolveBySystem): Targets {
  const allowedSubnets = allowed.map(parseSubnet);

  function checkAddress(text: string, mode: Mode): void {
    const address = ipaddr.process(text);
    const range = address.range();
    const isNever = isIn(address, never);
    const isPublic = range === 'unicast' && (address.kind() === 'ipv4' || isIn(address, [globalIpv6]));
    const isAllowed =
      isPublic || (mode === 'test' ? developersRanges.has(range) : isIn(address, allowedSubnets));
    if (!isNever && isAllowed) return;
    throw new TargetRefused(
      isNever || mode === 'test'
        ? `${text} is an address that webhooks are never sent to`
        : `${text} is not a public address; WEBHOOK_ALLOW_PRIVATE can allow its subnet`,
    );
  }

  async function resolveChecked(hostname: string, mode: Mode): Promise<readonly ResolvedAddress[]> {
    const addresses = await resolve(hostname).catch((error: unknown) => {
      throw new Error(`The name ${hostname} cannot be resolved: ${errorMessage(error)}`, { cause: error });
    });
    for (const { address } of addresses) checkAddress(address, mode);
    return addresses;
  }

  return {
    check(url, mode) {
      if (mode === 'live' && url.protocol !== 'https:') {
        throw new TargetRefused('Webhooks of live mode go to https alone');
      }
      const address = literalAddress(url);
      if (address !== undefined) checkAddress(address, mode);
    },

    lookup: (mode) => (hostname, options, callback) => {
      resolveChecked(hostname, mode).then(
        (addresses) => {
          const [first] = addresses;
          if (!first) callback(new Error(`The name ${hostname} has no address`), '');
          else if (options.all) callback(null, [...addresses]);
          else callback(null, first.address, first.family);
        },
        (error: unknown) => callback(error instanceof Error ? error : new Error(errorMessage(error)), ''),
      );
    },
  };
}

/** Whether a URL names an address that is refused in both modes. */
export function isNeverTarget(url: URL): boolean {
  const address = literalAddress(url);
  return address !== undefined && isIn(ipaddr.process(address), never);
}

/** Whether a text is a subnet such as `10.1.0.0/16`. */
export function isSubnet(text: string): boolean {
  return ipaddr.isValidCIDR(text);
}

const resolveBySystem: Resolve = (hostname) => systemLookup(hostname, { all: true, verbatim: true });

/** The host where it is an address; URL has brought forms such as `0x7f.1` and `2130706433` to four decimals before. */
function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

function parseSubnet(text: string): Subnet {
  return ipaddr.parseCIDR(text);
}

function isIn(address: Address, subnets: readonly Subnet[]): boolean {
  return subnets.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}
