/** The owners of treasuries: several merchants can share one, and one merchant can have several in time. */
import type { DepositKeyState } from '../../core/addresses/deposit-keys.js';
import type { Reader } from '../../core/db/engine.js';
import type { Mode } from '../../core/shared/scope.js';
import type { TreasuryContext } from './context.js';

export type TreasuryOwners = Awaited<ReturnType<typeof readOwners>>;

/** The treasuries of a mode, previous and pending ones too. @param merchantId of all merchants if it is undefined */
export async function listTreasuries(
  { depositKeys }: Pick<TreasuryContext, 'depositKeys'>,
  reader: Reader,
  mode: Mode,
  merchantId?: string,
) {
  const keys = await depositKeys.list(reader, merchantId);
  return keys.flatMap((key) => (key.mode === mode && key.treasury !== undefined ? key : []));
}

/** A treasury that is not in use yet may be a thief's. */
const wasUsed: ReadonlySet<DepositKeyState> = new Set(['in_use', 'replaced']);

/** Addresses are in lower case. */
export async function readOwners(deps: TreasuryContext, reader: Reader, mode: Mode) {
  const owners = new Map<string, Set<string>>();
  for (const key of await listTreasuries(deps, reader, mode)) {
    if (!wasUsed.has(key.state)) continue;
    const treasury = key.treasury.toLowerCase();
    owners.set(treasury, (owners.get(treasury) ?? new Set()).add(key.merchantId));
  }
  const groups = new Map<string, string>();
  for (const sharing of owners.values()) {
    const joined = new Set([...sharing].map((merchant) => groups.get(merchant) ?? merchant));
    const [name = ''] = joined;
    for (const merchant of sharing) groups.set(merchant, name);
    for (const [merchant, group] of groups) if (joined.has(group)) groups.set(merchant, name);
  }
  return {
    treasuries: [...owners.keys()],
    ownersOf: (treasury: string): ReadonlySet<string> => owners.get(treasury.toLowerCase()) ?? new Set(),
    treasuriesOf: (merchant: string) =>
      [...owners].flatMap(([treasury, of]) => (of.has(merchant) ? treasury : [])),
    /**
     * Merchants with one name here share a treasury, directly or through others: a payment of it can be for a transfer of any
     * of them. Undefined without a treasury.
     */
    groupOf: (merchant: string) => groups.get(merchant),
  };
}
