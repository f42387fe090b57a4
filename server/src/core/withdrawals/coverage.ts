/**
 * Checks that the coins of held transfers are still there, for all code that pays any. A reorganisation can remove
 * deposits after the hold: then transfers wait, and are never paid with the coins of others.
 */
import { formatUnits } from '../money/units.js';
import type { Reader } from '../db/engine.js';
import type { TransferRow } from '../db/schema.js';
import { groupBy } from '../shared/group-by.js';
import { scopeOf } from '../shared/scope.js';
import type { WithdrawalsDeps } from './deps.js';
import * as store from './coverage-store.js';

export type Coverage = ReturnType<typeof createCoverage>;

export function createCoverage({ ledger, currencies }: Pick<WithdrawalsDeps, 'ledger' | 'currencies'>) {
  /** All rows must have the same merchant, currency and network. */
  async function shortAmong(
    reader: Reader,
    rows: readonly TransferRow[],
    exportId: string | undefined,
  ): Promise<(readonly [string, string])[]> {
    const [first] = rows;
    if (!first) return [];
    const { network } = first;
    const currency = currencies.known(first.currency);
    const owner = scopeOf(first);
    const { held, heldHere, debt, coins } = await ledger.holdings(reader, owner, currency.code, network);
    // Everything that is held is there, and so are these.
    if (debt === 0n && coins >= heldHere) return [];
    // Network charges for payouts are missing as well, and no reorganisation removed them.
    const charged = await store.sumCharged(reader, first);
    const moving = await store.sumMoving(reader, first, { except: rows, exportId });
    let movingHere = moving.get(network) ?? 0n;
    let movingInAll = [...moving.values()].reduce((sum, units) => sum + units, 0n);
    return rows.flatMap((row) => {
      const needed = row.amount + row.fee;
      const here = coins + charged - movingHere;
      const paidFor = held - debt - movingInAll;
      if (here >= needed && paidFor >= needed) {
        movingHere += needed;
        movingInAll += needed;
        return [];
      }
      const left = here < paidFor ? here : paidFor;
      const amountOf = (units: bigint) =>
        `${formatUnits(units > 0n ? units : 0n, currency)} ${currency.code}`;
      return [
        [
          row.id,
          `The network has reverted deposits that would have paid it: it takes ${amountOf(needed)}, and ${amountOf(left)} is left on ${network}`,
        ] as const,
      ];
    });
  }

  return {
    /**
     * The reasons why transfers must not be paid now, by their ids, if they are paid in this order. Callers that
     * decide by it in a transaction lock the merchant's available balance first.
     * @param exportId the export that they are in: its other transfers move only once a wallet was asked for it
     */
    async short(
      reader: Reader,
      transfers: readonly TransferRow[],
      exportId?: string,
    ): Promise<ReadonlyMap<string, string>> {
      const groups = groupBy(transfers, (row) =>
        [row.merchant_id, row.mode, row.currency, row.network].join('/'),
      );
      const found = new Map<string, string>();
      for (const rows of groups.values()) {
        for (const [id, reason] of await shortAmong(reader, rows, exportId)) found.set(id, reason);
      }
      return found;
    },
  };
}
