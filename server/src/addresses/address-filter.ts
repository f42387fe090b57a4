/** A Bloom filter of addresses, of a fixed size: it never says no wrongly, and says yes wrongly the more often the fuller it is. */

/** 4 MB: with a million addresses, it says yes wrongly once in 30,000 times, and with ten million once in three times. */
const bits = 2 ** 25;
const hashes = 6;

export function createAddressFilter() {
  const words = new Uint32Array(bits / 32);

  /** Calls `visit` with each place of an address, until it returns false. Returns whether it never did. */
  function everyPlace(address: string, visit: (word: number, mask: number) => boolean): boolean {
    // FNV-1a with two bases. The hashes are combined as by Kirsch and Mitzenmacher.
    let a = 0x811c9dc5;
    let b = 0x01000193;
    for (let position = 0; position < address.length; position += 1) {
      const character = address.charCodeAt(position);
      a = Math.imul(a ^ character, 0x01000193);
      b = Math.imul(b ^ character, 0x85ebca6b) ^ (b >>> 13);
    }
    for (let index = 0; index < hashes; index += 1) {
      const bit = (a + Math.imul(index, b | 1)) & (bits - 1);
      if (!visit(bit >>> 5, 1 << (bit & 31))) return false;
    }
    return true;
  }

  return {
    add(address: string): void {
      everyPlace(address, (word, mask) => {
        words[word] = (words[word] ?? 0) | mask;
        return true;
      });
    },
    /** Whether the address may have been added. */
    mayHave: (address: string): boolean =>
      everyPlace(address, (word, mask) => ((words[word] ?? 0) & mask) !== 0),
  };
}
