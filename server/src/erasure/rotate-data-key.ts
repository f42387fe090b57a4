/** Encrypts personal data anew, wherever it is kept, that is not under the current data key. */
import { sql } from 'kysely';
import type { Database } from '../db/database.js';
import type { PersonalData } from '../db/personal-data.js';
import type { CustomerTable, OutboxTable, PaymentTable, Schema, WebhookTryTable } from '../db/schema.js';

type Cells = Readonly<Record<string, unknown>>;

interface SealedTable {
  readonly table: keyof Schema;
  /** Tells its rows apart. */
  readonly key: readonly string[];
  readonly column: string;
  /** @returns the columns to change */
  reseal(row: Cells): Cells;
}

/** Each place where personal data is. The casts are safe: each row is one of its table. */
function sealedTables(personalData: PersonalData): readonly SealedTable[] {
  return [
    {
      ...{ table: 'payments', key: ['id'], column: 'payer' },
      reseal(row) {
        const payment = row as unknown as PaymentTable;
        return personalData.payerColumns(payment, personalData.payer(payment));
      },
    },
    {
      ...{ table: 'customers', key: ['id'], column: 'person' },
      reseal(row) {
        const customer = row as unknown as CustomerTable;
        return personalData.personColumns(customer, personalData.person(customer));
      },
    },
    {
      ...{ table: 'outbox', key: ['id'], column: 'data' },
      reseal(row) {
        const event = row as unknown as OutboxTable;
        return { data: personalData.sealEvent(event.id, personalData.openEvent(event)) };
      },
    },
    {
      ...{ table: 'webhook_tries', key: ['event_id', 'tried_at', 'duration_ms'], column: 'response_excerpt' },
      reseal(row) {
        const { event_id: id, response_excerpt: excerpt } = row as unknown as WebhookTryTable;
        return { response_excerpt: personalData.sealResponse(id, personalData.openResponse(id, excerpt)) };
      },
    },
    {
      ...{ table: 'idempotency_replies', key: ['merchant_id', 'mode', 'hash'], column: 'reply' },
      reseal(row) {
        const kept = row as unknown as Schema['idempotency_replies'];
        return { reply: personalData.sealReply(kept, personalData.openReply(kept, kept.reply)) };
      },
    },
  ];
}

const pageSize = 200;

/**
 * What was done stays done if it is stopped. A second round finds what servers have written meanwhile.
 * @param onProgress called after each page of a table
 * @returns how many values were changed
 */
export async function rotatePersonalData(
  database: Database,
  personalData: PersonalData,
  onProgress: (table: string, rows: number) => void,
): Promise<number> {
  let changed = 0;
  for (;;) {
    let inRound = 0;
    for (const sealed of sealedTables(personalData)) {
      inRound += await rotateTable(database, sealed, personalData.isCurrent, (rows) =>
        onProgress(sealed.table, rows),
      );
    }
    if (inRound === 0) return changed;
    changed += inRound;
  }
}

async function rotateTable(
  database: Database,
  { table, key, column, reseal }: SealedTable,
  isCurrent: PersonalData['isCurrent'],
  onProgress: (rows: number) => void,
): Promise<number> {
  const columns = sql.join(key.map((name) => sql.ref(name)));
  let after: readonly unknown[] | undefined;
  let [changed, seen] = [0, 0];
  for (;;) {
    const from = after === undefined ? sql`` : sql`where (${columns}) > (${sql.join(after)})`;
    const { rows } = await sql<Cells>`
      select * from ${sql.table(table)} ${from} order by ${columns} limit ${sql.lit(pageSize)}
    `.execute(database.reader);
    const former = rows.filter((row) => !isCurrent(String(row[column])));
    if (former.length > 0) {
      await database.write(async (transaction) => {
        for (const row of former) {
          const set = Object.entries(reseal(row)).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
          // What somebody changed since it was read is under their key.
          const same = [...key, column].map((name) => sql`${sql.ref(name)} = ${row[name]}`);
          await sql`
            update ${sql.table(table)} set ${sql.join(set)} where ${sql.join(same, sql` and `)}
          `.execute(transaction);
        }
      });
    }
    changed += former.length;
    seen += rows.length;
    const last = rows.at(-1);
    if (!last || rows.length < pageSize) return changed;
    after = key.map((name) => last[name]);
    onProgress(seen);
  }
}
