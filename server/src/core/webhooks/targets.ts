/**
 * Restricts where webhooks may be sent, against SSRF: a webhook URL must not reach internal services that the server can
 * reach, but the person who set the URL cannot.
 */
import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { destinationsOf, type Address } from './embedded-addresses.js';
import { errorMessage } from '../shared/error-message.js';
import type { Mode } from '../shared/scope.js';

/** Resolves a host name to all its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export type Targets = ReturnType<typeof createTargets>;

/** The target of a webhook is not allowed. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

type Subnet = readonly [Address, number];

/** Cloud metadata services, which hand out credentials to any internal caller, and link-local addresses. */
const forbiddenSubnets = [
  '169.254.0.0/16',
  'fe80::/10',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
].map((subnet) => ipaddr.parseCIDR(subnet));
/** The publicly routed part of IPv6. The rest is reserved, local, or maps to IPv4 addresses. */
const globalIpv6 = ipaddr.parseCIDR('2000::/3');
/** Ranges of a developer's own machine and network. */
const developmentRanges = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);

export interface TargetsOptions {
  /** Private subnets that both modes may reach, such as `10.1.0.0/16`. */
  readonly allowed: readonly string[];
  /** True if test mode may reach this machine and its network: a developer's own server may, one for others may not. */
  readonly isForDevelopment: boolean;
  readonly resolve?: Resolve | undefined;
}

export function createTargets(options: TargetsOptions) {
  const { isForDevelopment, resolve = resolveBySystem } = options;
  const allowedSubnets = options.allowed.map((subnet) => ipaddr.parseCIDR(subnet));

  function checkDestination(address: Address, text: string, mode: Mode): void {
    const range = address.range();
    const isForbidden = isIn(address, forbiddenSubnets);
    const isPublic = range === 'unicast' && (address.kind() === 'ipv4' || isIn(address, [globalIpv6]));
    const isDevelopment = developmentRanges.has(range);
    const isAllowed =
      isPublic || isIn(address, allowedSubnets) || (mode === 'test' && isForDevelopment && isDevelopment);
    if (!isForbidden && isAllowed) return;
    const place = address.kind() === ipaddr.parse(text).kind() ? undefined : address.toString();
    throw new TargetRefused(
      isForbidden || (mode === 'test' && !isDevelopment)
        ? `Webhooks are never sent to ${text}: it ${place === undefined ? 'is' : `leads to ${place},`} a reserved, link-local or cloud metadata address`
        : `${text} ${place === undefined ? 'is' : `leads to ${place}, which is`} not a public address. WEBHOOK_ALLOW_PRIVATE can allow its subnet`,
    );
  }

  /** Judges where a connection ends up, whatever prefix leads there. */
  function checkAddress(text: string, mode: Mode): void {
    for (const address of destinationsOf(text)) checkDestination(address, text, mode);
  }

  async function resolveChecked(hostname: string, mode: Mode): Promise<readonly LookupAddress[]> {
    const addresses = await resolve(hostname).catch((error: unknown) => {
      throw new Error(`The host name ${hostname} could not be resolved: ${errorMessage(error)}`, {
        cause: error,
      });
    });
    for (const { address } of addresses) checkAddress(address, mode);
    return addresses;
  }

  return {
    /** Checks the scheme, and the host if it is an IP address. @throws TargetRefused */
    check(url: URL, mode: Mode): void {
      if (mode === 'live' && url.protocol !== 'https:') {
        throw new TargetRefused('Live-mode webhooks require an https URL');
      }
      const address = literalAddress(url);
      if (address !== undefined) checkAddress(address, mode);
    },

    /**
     * Returns a DNS lookup for connections. It resolves a name once and returns its addresses only if all are allowed, so
     * the connection goes to an address that was checked. Fails with TargetRefused.
     */
    lookup:
      (mode: Mode): LookupFunction =>
      (hostname, options, callback) => {
        resolveChecked(hostname, mode).then(
          (addresses) => {
            const [first] = addresses;
            if (!first) callback(new Error(`The host name ${hostname} has no address`), '');
            else if (options.all) callback(null, [...addresses]);
            else callback(null, first.address, first.family);
          },
          (error: unknown) => callback(error instanceof Error ? error : new Error(errorMessage(error)), ''),
        );
      },
  };
}

/** True if the text is a subnet, such as `10.1.0.0/16`. */
export function isSubnet(text: string): boolean {
  return ipaddr.isValidCIDR(text);
}

const resolveBySystem: Resolve = (hostname) => systemLookup(hostname, { all: true, verbatim: true });

/** The host if it is an IP address. `URL` has already normalized forms such as `0x7f.1` and `2130706433`. */
function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

function isIn(address: Address, subnets: readonly Subnet[]): boolean {
  return subnets.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}
