/**
 * Fills a database with payments and related records. It uses SQL to copy records that the API created, and spreads them
 * over 21 merchants (the first one has 60 % of the rows) and two years.
 */
import Database from 'better-sqlite3';
import { paymentFinding } from 'crypto-checkout/contract';
import pg from 'pg';
import { openDatabase } from '../server/dist/database.js';
import { setCodec } from '../server/dist/core/db/codecs.js';
import { extendCheckpoints } from '../server/dist/core/db/list-checkpoints.js';

/**
 * @typedef {object} Sql
 * @property {(text: string) => Promise<Record<string, unknown>[]>} run
 * @property {(count: number) => string} series rows with a column i that starts at 0
 * @property {(expression: string) => string} id 26 characters that sort like the number
 * @property {(table: string) => Promise<string[]>} columns
 * @property {(text: string, values: readonly unknown[]) => Promise<{ lines: string[] }>} explain
 * @property {() => Promise<void>} settle runs the maintenance that the database would do later on its own
 * @property {() => Promise<void>} close
 */

/** @param {string} url @returns {Promise<Sql>} */
export async function connect(url) {
  if (url.startsWith('sqlite:')) {
    const database = new Database(url.slice('sqlite:'.length));
    // The queries of the lists use their names. The plans do not depend on their code.
    database.aggregate('sum_units', { varargs: true, step: () => undefined });
    database.function('add_units', { varargs: true }, () => null);
    database.pragma('synchronous = OFF');
    database.pragma('foreign_keys = OFF');
    return {
      run: async (text) => {
        const statement = database.prepare(text);
        if (statement.reader) return /** @type {Record<string, unknown>[]} */ (statement.all());
        statement.run();
        return [];
      },
      series: (count) =>
        `(with recursive s(i) as (select 0 union all select i + 1 from s where i < ${count - 1}) select i from s) s`,
      id: (expression) => `printf('%026d', ${expression})`,
      columns: async (table) =>
        /** @type {string[]} */ (
          database.prepare(`select name from pragma_table_info('${table}')`).pluck().all()
        ),
      explain: async (text, values) => ({
        lines: database
          .prepare(`explain query plan ${text}`)
          .all(...values)
          .map((/** @type {any} */ row) => String(row.detail)),
      }),
      settle: async () => void database.pragma('wal_checkpoint(TRUNCATE)'),
      close: async () => void database.close(),
    };
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // Copies give foreign keys and checkpoints nothing to check.
  await client.query('set session_replication_role = replica');
  return {
    run: async (text) => (await client.query(text)).rows,
    series: (count) => `generate_series(0, ${count - 1}) s(i)`,
    id: (expression) => `lpad((${expression})::text, 26, '0')`,
    columns: async (table) => {
      const { rows } = await client.query(
        `select column_name from information_schema.columns where table_name = '${table}' order by ordinal_position`,
      );
      return rows.map((row) => row.column_name);
    },
    explain: async (text, values) => {
      const { rows } = await client.query(`explain ${text}`, [...values]);
      return { lines: rows.map((row) => String(row['QUERY PLAN'])) };
    },
    settle: async () => void (await client.query('vacuum analyze')),
    close: () => client.end(),
  };
}

const days = 730;

/**
 * A share of the payments, but enough for the first merchant to fill a page of 100. @param {number} share @param
 * {number} payments
 */
const oneOf = (share, payments) => Math.max(250, Math.ceil(payments / share));

/**
 * @param {Sql} sql
 * @param {number} payments the number to create
 * @param {Templates} templates
 */
export async function fill(sql, payments, templates) {
  const [own] = await sql.run(`select * from merchants where id = '${templates.merchant}'`);
  if (!own) throw new Error('The merchant of the templates is not in the database');
  await copy(sql, 'merchants', 20, templates.merchant, { id: sql.id('s.i') });

  const now = Date.now();
  const owner = `case when s.i % 10 < 6 then '${templates.merchant}' else ${sql.id('s.i % 20')} end`;
  /** @type {(count: number) => Record<string, string>} */
  const spread = (count) => ({
    id: sql.id('s.i'),
    merchant_id: owner,
    created_at: `${now - days * 86_400_000} + ${Math.floor((days * 86_400_000) / count)} * cast(s.i as bigint)`,
  });

  // 65 % are paid, 20 % expired and 15 % cancelled.
  const templateOf = (/** @type {string} */ number) =>
    `case when ${number} % 20 < 13 then '${templates.paid}' when ${number} % 20 < 17 then '${templates.expired}' else '${templates.cancelled}' end`;
  await copy(sql, 'payments', payments, templateOf('s.i'), {
    ...spread(payments),
    ...unusual(payments),
    // Paid within a minute, so that each payment has its own day.
    settled_at: `case when t.settled_at is null then null else 60000 + ${spread(payments)['created_at'] ?? ''} end`,
    tx_ref: `'order-' || s.i`,
    payer: `'{"description":"Payment from a customer","email":"customer-' || (s.i % 50000) || '@example.com"}'`,
    payer_index: `'customer-' || (s.i % 50000) || '@example.com'`,
  });
  const parent = `t.payment_id = case when p.tx_ref like 'order-%' then ${templateOf('cast(substr(p.id, 16) as bigint)')} end`;
  const entries = ['time', 'type', 'event', 'code', 'entry_values'];
  await sql.run(
    `insert into log_entries (payment_id, ${entries.join(', ')})
     select p.id, ${entries.map((name) => `t.${name}`).join(', ')} from payments p join log_entries t on ${parent}
     order by p.created_at`,
  );
  await copyOf(sql, 'receipts', `payments p join receipts t on ${parent}`, {
    id: 'p.id',
    payment_id: 'p.id',
    merchant_id: 'p.merchant_id',
    tx_hash: 'p.id',
  });

  await addWebhooks(sql);
  const refunds = oneOf(50, payments);
  await copy(sql, 'refunds', refunds, templates.refund, {
    ...spread(refunds),
    payment_id: sql.id('s.i * 3'),
    token_digest: `'digest-' || s.i`,
    status: `case when s.i % 50 = 0 then 'awaiting_approval' when s.i % 50 = 1 then 'failed' else 'paid' end`,
  });
  const changed = (await sql.columns('audit_log')).filter((name) => !['id', 'merchant_id'].includes(name));
  await sql.run(
    `insert into audit_log (merchant_id, ${changed.join(', ')})
     select ${owner}, ${changed.map((name) => `t.${name}`).join(', ')}
     from ${sql.series(payments)} join (select * from audit_log order by id limit 1) t on true`,
  );
  const customers = oneOf(10, payments);
  await copy(sql, 'customers', customers, templates.customer, {
    ...spread(customers),
    person: `'{"email":"Customer-' || s.i || '@example.com","phoneNumber":"+234' || (8000000000 + s.i) || '"}'`,
    email_index: `'customer-' || s.i || '@example.com'`,
    phone_index: `'+234' || (8000000000 + s.i)`,
    is_blacklisted: 'case when s.i % 50 = 0 then 1 else 0 end',
  });
  const plans = oneOf(5000, payments);
  await copy(sql, 'payment_plans', plans, templates.plan, {
    ...spread(plans),
    currency: `case when s.i % 3 = 0 then 'USD' else 'NGN' end`,
  });
  const subscribers = oneOf(50, payments);
  await copy(sql, 'subscribers', subscribers, templates.subscriber, {
    ...spread(subscribers),
    customer_id: sql.id('s.i'),
    is_active: 'case when s.i % 4 = 0 then 0 else 1 end',
    charge_at: 'null',
  });
  const addresses = oneOf(1000, payments);
  await copy(sql, 'wallet_addresses', addresses, templates.walletAddress, {
    ...spread(addresses),
    address: `'address-' || s.i`,
    currency: `case when s.i % 3 = 0 then 'TRX' else 'USDT' end`,
    label: `'label-' || (s.i % 10)`,
  });
  const accounts = oneOf(5000, payments);
  await copy(sql, 'bank_accounts', accounts, templates.bankAccount, {
    ...spread(accounts),
    account_number: `'00' || (10000000 + s.i)`,
    number_index: `'00' || (10000000 + s.i)`,
  });
  const transfers = oneOf(200, payments);
  await copy(sql, 'transfers', transfers, templates.transfer, spread(transfers));
  await copy(sql, 'payouts', transfers, templates.payout, {
    ...spread(transfers),
    transfer_id: sql.id('s.i'),
    status: `case when s.i % 10 = 0 then 'failed' else 'success' end`,
    currency: `case when s.i % 3 = 0 then 'TRX' else 'USDT' end`,
    wallet_address_id: sql.id(`s.i % ${addresses}`),
  });
  const wallets = oneOf(200, payments);
  await copy(sql, 'wallets', wallets, templates.wallet, {
    ...spread(wallets),
    label: `'label-' || s.i`,
    currency: `case when s.i % 3 = 0 then 'TRX' else 'USDT' end`,
  });
  await copyOf(
    sql,
    'addresses',
    `wallets w join addresses t on t.wallet_id = '${templates.wallet}' and w.id <> t.wallet_id`,
    { id: `w.id || t.network`, wallet_id: 'w.id', address: 'w.id || t.network' },
  );
  await sql.settle();
}

/**
 * One payment in 1,000 of each kind that needs attention, but enough to fill a page of 100. They are stored so from the start: an
 * index that all paid payments were in for a while stays large, and PostgreSQL then reads another one.
 * @param {number} payments
 */
function unusual(payments) {
  /** @type {[number: number, state: string, findings: import('crypto-checkout/contract').PaymentFinding[]][]} */
  const kinds = [
    [0, 'settled_over', ['over']],
    [1, 'expired_late', ['late']],
    [2, 'expired_partial', ['short']],
    [10, 'cancelled_paid', ['late']],
    [11, 'invalid', ['wrong_coin']],
    [12, 'reversed', []],
  ];
  // So that all are of the first merchant, and copies of the payment that was paid.
  const share = Math.max(20, 20 * Math.floor(payments / oneOf(1000, payments) / 20));
  const caseOf = (/** @type {(kind: (typeof kinds)[number]) => string | number} */ valueOf) =>
    `case s.i % ${share} ${kinds.map((kind) => `when ${kind[0]} then ${valueOf(kind)}`).join(' ')}`;
  const { write: bits } = setCodec(paymentFinding.options);
  return {
    state: `${caseOf(([, state]) => `'${state}'`)} else case t.state when 'settled_over' then 'settled' else t.state end end`,
    findings: `${caseOf(([, , findings]) => bits(findings))} else 0 end`,
  };
}

/** An event of each payment with an attempt: one in 50 was given up, and one in 500 is tried again later. @param {Sql} sql */
async function addWebhooks(sql) {
  const number = 'substr(p.id, 24, 3)';
  const later = Date.now() + 30 * 86_400_000;
  await sql.run(
    `insert into outbox (id, merchant_id, mode, type, subject_id, sequence, data, status, tries, due_at, created_at)
     select p.id, p.merchant_id, p.mode,
       case p.state when 'settled' then 'payment.success' else 'payment.error' end,
       p.id, p.created_at, '{"id":"' || p.id || '","mode":"test"}',
       case when ${number} in ('005', '255') then 'pending' when ${number} like '%03' or ${number} like '%53' then 'failed' else 'delivered' end,
       case when ${number} in ('005', '255') then 3 when ${number} like '%03' or ${number} like '%53' then 8 else 0 end,
       case when ${number} in ('005', '255') then ${later} else null end,
       p.created_at
     from payments p where p.tx_ref like 'order-%' order by p.created_at`,
  );
  await sql.run(
    `insert into webhook_tries (event_id, tried_at, duration_ms, response_status, response_excerpt)
     select id, created_at, 20, case status when 'delivered' then 204 else 503 end, '""' from outbox`,
  );
}

/**
 * @typedef {Record<'merchant' | 'paid' | 'expired' | 'cancelled' | 'customer' | 'refund' | 'plan' | 'subscriber' | 'walletAddress' |
 *   'bankAccount' | 'transfer' | 'payout' | 'wallet', string>} Templates ids of the records to copy
 */

/**
 * Copies one row many times.
 * @param {Sql} sql
 * @param {string} table
 * @param {number} count
 * @param {string} template an id, or an SQL expression for one
 * @param {Record<string, string>} changes SQL expressions with s.i, by column
 */
function copy(sql, table, count, template, changes) {
  const id = template.includes(' ') ? template : `'${template}'`;
  return copyOf(sql, table, `${sql.series(count)} join ${table} t on t.id = ${id} order by s.i`, changes);
}

/**
 * @param {Sql} sql
 * @param {string} table
 * @param {string} source the FROM clause; the row to copy is t
 * @param {Record<string, string>} changes
 */
export async function copyOf(sql, table, source, changes) {
  // The database counts addresses with triggers.
  const columns = (await sql.columns(table)).filter((name) => table !== 'addresses' || name !== 'sequence');
  for (const name of Object.keys(changes)) {
    if (!columns.includes(name)) throw new Error(`${table} has no column ${name}`);
  }
  const values = columns.map((name) => changes[name] ?? `t.${name}`);
  await sql.run(`insert into ${table} (${columns.join(', ')}) select ${values.join(', ')} from ${source}`);
}

/**
 * Runs the work of a job that the server runs every minute, which would otherwise do it while something is measured.
 * @param {string} url
 */
export async function makeCheckpoints(url) {
  const database = await openDatabase(url);
  await extendCheckpoints(database, new AbortController().signal);
  await database.close();
}
