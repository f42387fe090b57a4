/** Checks that each coin that no confirmed PSBT has spent has the mark by which payouts find it. */
import type { NetworkRef } from '../../core/chains/chain.js';
import { isOfKey } from '../../core/addresses/unspent-coins.js';
import { inChunks } from '../../core/db/chunks.js';
import type { Reader } from '../../core/db/engine.js';
import { everyPageById } from '../../core/db/pages.js';
import { filtersBy } from '../../core/db/plans.js';
import { nameOfRow } from './outpoints.js';
import { groupBy } from '../../core/shared/group-by.js';
import type { Check, Report } from '../../core/audit/check-report.js';
import type { PsbtInputRow } from './tables.js';

type Coin = Pick<PsbtInputRow, 'mode' | 'network' | 'tx_hash' | 'output_index'>;

export const checkUnspent: Check = async (reader, report) => {
  let checked = 0;
  const addresses = reader.selectFrom('addresses').select(['id', 'address']).where(isOfKey);
  for await (const page of everyPageById(addresses)) {
    const coins = await reader
      .selectFrom('receipts')
      .select(['mode', 'network', 'tx_hash', 'output_index'])
      .where('status', '=', 'confirmed')
      .where(
        'address',
        'in',
        page.map(({ address }) => address),
      )
      .execute();
    checked += coins.length;
    await expectMarked(reader, report, coins);
  }
  const settled = reader
    .selectFrom('psbts')
    .innerJoin('psbt_versions', (join) =>
      join
        .onRef('psbt_versions.psbt_id', '=', 'psbts.id')
        .onRef('psbt_versions.number', '=', 'psbts.settled_version'),
    )
    .select(['psbts.id', 'psbts.mode', 'psbts.network', 'psbt_versions.tx_hash'])
    .select((e) =>
      e
        .selectFrom('psbt_transfers')
        .whereRef('psbt_transfers.psbt_id', '=', 'psbts.id')
        .select((s) => s.fn.countAll<number | string>().as('count'))
        .as('outputs'),
    )
    .where('psbts.state', '=', 'settled')
    .where('psbt_versions.change_amount', '<>', '0');
  for await (const page of everyPageById(settled, 'psbts.id')) {
    checked += page.length;
    const coins = page.flatMap(({ outputs, tx_hash, ...of }) =>
      tx_hash === null ? [] : { ...of, tx_hash, output_index: Number(outputs) },
    );
    await expectMarked(reader, report, coins);
  }
  return checked;
};

async function expectMarked(reader: Reader, report: Report, all: readonly Coin[]): Promise<void> {
  for (const coins of groupBy(all, ({ mode, network }) => `${mode}/${network}`).values()) {
    const [first] = coins;
    if (first) await expectMarkedAt(reader, report, first, coins);
  }
}

async function expectMarkedAt(
  reader: Reader,
  report: Report,
  { mode, network }: NetworkRef,
  coins: readonly Coin[],
): Promise<void> {
  const hashes = [...new Set(coins.map(({ tx_hash: hash }) => hash))];
  const marks = await inChunks(hashes, (chunk) =>
    reader
      .selectFrom('unspent_coins')
      .select(['tx_hash', 'output_index'])
      .where((e) => e.and({ mode, network }))
      .where('tx_hash', 'in', chunk)
      .execute(),
  );
  const spent = await inChunks(hashes, (chunk) =>
    reader
      .selectFrom('psbt_inputs')
      .innerJoin('psbts', 'psbts.id', 'psbt_inputs.psbt_id')
      .select(['psbt_inputs.tx_hash', 'psbt_inputs.output_index'])
      .where('psbt_inputs.tx_hash', 'in', chunk)
      .where(filtersBy(reader, { 'psbt_inputs.mode': mode, 'psbt_inputs.network': network }))
      .where(filtersBy(reader, { 'psbt_inputs.is_held': 1, 'psbts.state': 'settled' }))
      .where('psbts.confirmed_at', 'is not', null)
      .execute(),
  );
  const found = new Set([...marks, ...spent].map(nameOfRow));
  for (const coin of coins) {
    report.expect(
      found.has(nameOfRow(coin)),
      `No PSBT would find the coin ${nameOfRow(coin)} on ${network} in ${mode} mode, which none has spent`,
    );
  }
}
