/** Finds where packets to an IPv6 address end up, if a gateway translates them to IPv4 or carries them to an IPv4 address. */
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The places of the four bytes of an IPv4 address. */
type Layout = readonly [number, number, number, number];

const last: Layout = [12, 13, 14, 15];

/** Prefixes whose addresses stand for IPv4 addresses. Packets go to the IPv4 address. */
const translations: readonly { readonly prefix: string; readonly layouts: readonly Layout[] }[] = [
  // Mapped, in its usual form and in the one of SIIT (RFC 4291, RFC 2765).
  { prefix: '::ffff:0:0/96', layouts: [last] },
  { prefix: '::ffff:0:0:0/96', layouts: [last] },
  // NAT64 (RFC 6052).
  { prefix: '64:ff9b::/96', layouts: [last] },
  // NAT64 under prefixes of the network's own (RFC 8215): their lengths are not known, and each has a layout of its own. Byte 8
  // belongs to none.
  { prefix: '64:ff9b:1::/48', layouts: [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], last] },
  // 6to4 (RFC 3056).
  { prefix: '2002::/16', layouts: [[2, 3, 4, 5]] },
];
/** Teredo (RFC 4380): its server, and the client with each bit inverted. */
const teredo = ipaddr.parseCIDR('2001::/32');
const teredoServer: Layout = [4, 5, 6, 7];
/** IPv4-compatible addresses (RFC 4291), which are deprecated. */
const compatible = ipaddr.parseCIDR('::/96');
/** The third quarter of ISATAP's addresses (RFC 5214), below any prefix. */
const isatap = new Set(['0000:5efe', '0200:5efe']);

const parsed = translations.map(({ prefix, layouts }) => ({ subnet: ipaddr.parseCIDR(prefix), layouts }));

/**
 * True if nothing is forwarded to an address: it belongs to no network (0.0.0.0/8), is multicast, or is reserved (from
 * 224.0.0.0 on).
 */
function leadsNowhere({ octets: [first = 0] }: ipaddr.IPv4): boolean {
  return first === 0 || first >= 224;
}

/**
 * All addresses that a packet to this one may end up at: each must be allowed.
 * @param text an IPv4 or IPv6 address
 */
export function destinationsOf(text: string): readonly Address[] {
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return [address];
  const bytes = address.toByteArray();
  const read = (layout: Layout, mask = 0) => new ipaddr.IPv4(layout.map((at) => (bytes[at] ?? 0) ^ mask));
  const translation = parsed.find(({ subnet }) => address.match(subnet));
  if (translation) {
    const found = translation.layouts.map((layout) => read(layout));
    // With several layouts, most readings of an address are meaningless.
    const meant = found.filter((one) => !leadsNowhere(one));
    return found.length > 1 && meant.length > 0 ? meant : found;
  }
  if (address.match(teredo)) return [read(teredoServer), read(last, 0xff)];
  const third = Buffer.from(bytes.slice(8, 12)).toString('hex').replace(/^..../, '$&:');
  const isCarried = isatap.has(third) || (address.match(compatible) && bytes[12] !== 0);
  return isCarried ? [address, read(last)] : [address];
}
