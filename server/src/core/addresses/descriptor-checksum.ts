/** The checksum of an output descriptor, after BIP-380: Bitcoin Core imports none without it. */

const inputCharset =
  "0123456789()[],'/*abcdefgh@:$%{}" +
  'IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~' +
  'ijklmnopqrstuvwxyzABCDEFGH`#"\\ ';
const checksumCharset = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const generators = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn];

/** @param descriptor without a checksum */
export function descriptorChecksum(descriptor: string): string {
  let state = 1n;
  const add = (value: number) => {
    const top = state >> 35n;
    state = ((state & 0x7ffffffffn) << 5n) ^ BigInt(value);
    for (const [bit, generator] of generators.entries()) {
      if ((top >> BigInt(bit)) & 1n) state ^= generator;
    }
  };
  let groups: number[] = [];
  for (const character of descriptor) {
    const position = inputCharset.indexOf(character);
    if (position < 0) throw new Error('A descriptor has only ASCII characters');
    add(position & 31);
    groups.push(position >> 5);
    if (groups.length === 3) {
      add(groups.reduce((sum, group) => sum * 3 + group, 0));
      groups = [];
    }
  }
  if (groups.length > 0) add(groups.reduce((sum, group) => sum * 3 + group, 0));
  for (let symbol = 0; symbol < 8; symbol += 1) add(0);
  state ^= 1n;
  return Array.from({ length: 8 }, (_, symbol) =>
    checksumCharset.charAt(Number((state >> BigInt(5 * (7 - symbol))) & 31n)),
  ).join('');
}
