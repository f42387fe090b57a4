/** Splits a blockchain address into groups that a person can compare. */

export interface AddressGroup {
  readonly text: string;
  /** True for the first and last groups, the ones people compare. The others can be dimmed. */
  readonly isEnd: boolean;
}

const groupsAtEachEnd = 2;

/** Groups of four characters; the last can be shorter. Joined together, they are the address. */
export function groupAddress(address: string): AddressGroup[] {
  const texts = address.match(/.{1,4}/g) ?? [];
  return texts.map((text, index) => ({
    text,
    isEnd: index < groupsAtEachEnd || index >= texts.length - groupsAtEachEnd,
  }));
}
