/** The parts of PSBTs in migrations of the core. */
import { sql, type Kysely, type SqlBool } from 'kysely';

/** Takes the marks of coins away that PSBTs have spent, and marks the change of those that are settled. */
export async function markCoins(db: Kysely<unknown>): Promise<void> {
  const isSpent = (of: string) => sql<SqlBool>`exists (
    select 1 from psbt_inputs as i join psbts as p on p.id = i.psbt_id
    where i.mode = ${sql.ref(`${of}.mode`)} and i.network = ${sql.ref(`${of}.network`)}
      and i.tx_hash = ${sql.ref(`${of}.tx_hash`)} and i.output_index = ${sql.ref(`${of}.output_index`)}
      and i.is_held = 1 and p.state = 'settled' and p.confirmed_at is not null)`;
  await sql`delete from unspent_coins where ${isSpent('unspent_coins')}`.execute(db);
  await sql`
    insert into unspent_coins (mode, network, merchant_id, source_id, tx_hash, output_index, amount, branch,
      derivation_index)
    select c.* from (
      select psbts.mode, psbts.network, psbts.merchant_id, psbts.source_id, v.tx_hash,
        (select count(*) from psbt_transfers as t where t.psbt_id = psbts.id) as output_index,
        cast(v.change_amount as bigint), 1, psbts.change_index
      from psbts join psbt_versions as v on v.psbt_id = psbts.id and v.number = psbts.settled_version
      where psbts.state = 'settled' and v.change_amount <> '0' and v.tx_hash is not null
        and psbts.change_index is not null) as c
    where not ${isSpent('c')}`.execute(db);
}
