/** The references of the payments of a cycle: `sub_<subscriber id>_<cycle>`, and `…:2`, `…:3` for those in its place. */

/** The reference of the payment that a cycle is charged with. Only billing can use it: see `checkReference`. */
export function referenceOf(subscriberId: string, cycle: number): string {
  return `sub_${subscriberId}_${cycle}`;
}

/** A cycle that a payment names. Anybody can name one, so it may not exist. */
export interface NamedCycle {
  readonly subscriberId: string;
  readonly cycle: number;
}

/** The cycle that a reference names, with or without a counter from 2; undefined for other references. */
export function parseReference(txRef: string): NamedCycle | undefined {
  // Longer numbers are no cycle, and PostgreSQL would refuse to compare them with one.
  const form = /^sub_([0-9A-HJKMNP-TV-Z]{26})_(0|[1-9]\d{0,8})(?::(?:[2-9]|[1-9]\d+))?$/;
  const [, subscriberId, cycle] = form.exec(txRef) ?? [];
  return subscriberId === undefined ? undefined : { subscriberId, cycle: Number(cycle) };
}
