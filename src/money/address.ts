/** A blockchain address in pieces that a person can compare. */

export interface AddressGroup {
  readonly text: string;
  /** True for the groups at either end, the ones people compare; the rest may be dimmed. */
  readonly isEnd: boolean;
}

const groupsAtEachEnd = 2;

/** The address in groups of four characters, of which the last may be shorter; joined they are the address. */
export function groupAddress(address: string): AddressGroup[] {
  const texts = address.match(/.{1,4}/g) ?? [];
  return texts.map((text, index) => ({
    text,
    isEnd: index < groupsAtEachEnd || index >= texts.length - groupsAtEachEnd,
  }));
}
