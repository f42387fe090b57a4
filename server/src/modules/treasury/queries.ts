/** SQL of treasuries for the core's queries about transfers and addresses, and for the checks of the ledger. */
import { expressionBuilder } from 'kysely';
import { accountOf, added, checkBalances, named, taken } from '../../core/audit/flows.js';
import { inChunks } from '../../core/db/chunks.js';
import { filtersBy } from '../../core/db/plans.js';
import type { QueryParts } from '../../core/db/query-parts.js';
import type { Schema } from '../../core/db/schema.js';
import { sumUnits } from '../../core/db/units.js';
import { checkUnswept } from './check-unswept.js';
import { readCursor } from './watch-store.js';

const exportOf = () =>
  expressionBuilder<Schema, 'transfers'>()
    .selectFrom('transfer_exports')
    .select('transfer_exports.id')
    .whereRef('transfer_exports.transfer_id', '=', 'transfers.id');
const { exists } = expressionBuilder<Schema, 'transfers'>();

const custody = accountOf('custody', 'network', 'merchant_id');
const treasury = named(custody, `'treasury'`);
const isBooked = 'is_reversed = 0';

export const treasuryParts: QueryParts = {
  wallets: {
    isHeld: (asked) =>
      exists(
        exportOf()
          .where('transfer_exports.released_at', 'is', null)
          .$if(asked !== undefined, (query) =>
            query.where(({ and, eb, not }) =>
              not(
                and([
                  eb('transfer_exports.id', '=', asked ?? ''),
                  eb('transfer_exports.handed_at', 'is', null),
                ]),
              ),
            ),
          ),
      ),
    wasGiven: () => exists(exportOf()),
    async sumCharged(reader, of) {
      const { total } = await reader
        .selectFrom('treasury_fees')
        .select(sumUnits(reader, 'amount').as('total'))
        .where((e) => e.and({ ...of, is_reversed: 0 }))
        .executeTakeFirstOrThrow();
      return BigInt(total);
    },
  },
  sweeps: {
    sums: (reader, { mode, network }, addresses, height) =>
      inChunks(addresses, (chunk) =>
        reader
          .selectFrom('sweeps')
          .select(['address', 'currency', sumUnits(reader, 'chain_amount').as('units')])
          .where('address', 'in', chunk)
          .where(filtersBy(reader, { mode, network }))
          .where('is_reversed', '=', 0)
          .where('block_height', '<=', height)
          .groupBy(['address', 'currency'])
          .execute(),
      ),
    blocks: (reader, { mode, network }, { address, currency }, upTo) =>
      reader
        .selectFrom('sweeps')
        .select(['block_height as height', 'block_hash as hash'])
        .where('address', '=', address)
        .where(filtersBy(reader, { mode, network }))
        .where((e) => e.and({ currency, is_reversed: 0 }))
        .where('block_height', '<=', upTo)
        .execute(),
    readUpTo: readCursor,
  },
  flows: {
    custody: [
      taken(custody, 'sweeps', 'amount', isBooked),
      added(treasury, 'sweeps', 'amount', isBooked),
      taken(treasury, 'treasury_fees', 'amount', isBooked),
    ],
  },
  checks: [
    [
      'Gas is what the transactions of gas keys cost',
      checkBalances('gas_paid', [
        added(accountOf('gas_paid'), 'gas_transactions', 'cost', 'cost is not null'),
      ]),
    ],
    ['Every address of a treasury that holds money is marked for the sweeps', checkUnswept],
  ],
};
