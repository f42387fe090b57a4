/** Refuses prepared statements behind a pooler that does not know which of its connections has prepared which. */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { PostgresPool } from './postgres-pool.js';

/** If a pooler lends its connections to transactions, two clients soon get the same one. */
const rounds = 5;

/** @throws if statements that one transaction prepares would be missing in the next */
export async function refuseForgetfulPooler(pool: PostgresPool): Promise<void> {
  const clients: pg.PoolClient[] = [];
  try {
    const first = await pool.acquire();
    clients.push(first);
    if (!pool.isShared(first) || !(await keepsName(first))) return;
    const second = await pool.acquire();
    clients.push(second);
    if (!(await lendsConnections(first, second))) return;
  } finally {
    for (const client of clients) pool.release(client);
  }
  throw new Error(
    'a pooler that does not keep track of prepared statements is in front of PostgreSQL. Set DATABASE_PREPARED_STATEMENTS=off, or in PgBouncer from 1.21 on max_prepared_statements=100, or let DATABASE_URL lead to PostgreSQL itself',
  );
}

/** True if PostgreSQL gets the name unchanged. A pooler that keeps track of names gives statements names of its own. */
async function keepsName(client: pg.PoolClient): Promise<boolean> {
  const name = `checkout_${randomBytes(8).toString('hex')}`;
  await client.query('begin');
  try {
    await client.query({ name, text: 'select 1' });
    const { rowCount } = await client.query(`select from pg_prepared_statements where name = '${name}'`);
    if (rowCount === 0) return false;
    await client.query(`deallocate ${name}`);
    return true;
  } finally {
    await client.query('rollback');
  }
}

async function lendsConnections(first: pg.PoolClient, second: pg.PoolClient): Promise<boolean> {
  const processes = [new Set<number>(), new Set<number>()];
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, client] of [first, second].entries()) {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      processes[index]?.add(rows[0]?.pid ?? 0);
    }
  }
  return new Set(processes.flatMap((seen) => [...seen])).size !== 2;
}
