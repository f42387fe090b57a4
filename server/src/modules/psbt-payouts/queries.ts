/** SQL of PSBTs for the core's queries about transfers, and for the checks of the ledger. */
import { expressionBuilder } from 'kysely';
import type { QueryParts } from '../../core/db/query-parts.js';
import type { Schema } from '../../core/db/schema.js';
import { checkUnspent } from './check-unspent.js';

const paying = () =>
  expressionBuilder<Schema, 'transfers'>()
    .selectFrom('psbt_transfers')
    .select('psbt_transfers.psbt_id')
    .whereRef('psbt_transfers.transfer_id', '=', 'transfers.id');
const { exists } = expressionBuilder<Schema, 'transfers'>();

export const psbtParts: QueryParts = {
  wallets: {
    isHeld: () => exists(paying().where('psbt_transfers.is_held', '=', 1)),
    wasGiven: () => exists(paying()),
  },
  checks: [['Every coin that is not spent is marked for the payouts by PSBT', checkUnspent]],
};
