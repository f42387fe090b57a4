/** The chain of the audit log: it stays one chain under several servers, and shows what was changed past them. */
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database.js';
import type { Database } from '../../src/core/db/database.js';
import type { AuditCheck } from '../../src/core/merchants/audit-chain.js';
import { clockAt } from '../support/clock.js';
import { plainData } from '../support/plain-data.js';
import { createHooks } from '../../src/core/hooks.js';
import { createAuditLog } from '../../src/core/merchants/audit-log.js';
import { runCommandLine } from '../support/command-line.js';
import { enginesOfTurn, type TestEngine } from '../support/engines.js';

const auditLog = createAuditLog(
  clockAt(() => 1_700_000_000_000),
  plainData,
  createHooks().emailsOf,
);

const record = (database: Database, subjectId: string) =>
  database.write((transaction) =>
    auditLog.record(transaction, {
      merchantId: 'M1',
      mode: 'live',
      actor: 'command line, user ada',
      action: 'deposit_key.set',
      subjectId,
      after: { treasury: subjectId },
    }),
  );

/** A log of entries E0, E1, …, written over two connections in turn. */
async function openLog(engine: TestEngine, entries: number) {
  const { url, dispose } = await engine.create();
  onTestFinished(dispose);
  const one = await openDatabase(url);
  onTestFinished(() => one.close());
  const other = await openDatabase(url);
  onTestFinished(() => other.close());
  for (let count = 0; count < entries; count += 1) await record(count % 2 === 0 ? one : other, `E${count}`);
  const check = async (...options: string[]) => {
    const { exitCode, stdout } = await runCommandLine(url, ['audit', 'check', ...options, '--json']);
    return { exitCode, ...(JSON.parse(stdout) as AuditCheck) };
  };
  /** A statement that the owner of the database can run. */
  const forge = async (statement: string) => {
    const lifted =
      engine.name === 'SQLite'
        ? ['drop trigger audit_log_no_update', 'drop trigger audit_log_no_delete']
        : ['alter table audit_log disable trigger audit_log_append_only'];
    for (const text of [...lifted, statement]) {
      await one.write((transaction) => sql.raw(text).execute(transaction));
    }
  };
  return { url, one, other, check, forge };
}

describe.each(enginesOfTurn)('On $name, the audit log', (engine) => {
  it('The audit log is one unbroken chain, though two servers add entries at the same time', async () => {
    const { url, one, other, check } = await openLog(engine, 0);
    expect(await check()).toEqual({ exitCode: 0, entries: 0, lastHash: '', broken: null });
    const add = (n: number) => record(n % 2 === 0 ? one : other, `E${n}`);
    const numbers = Array.from({ length: 40 }, (_, n) => n);
    // Two connections to SQLite in one thread would block each other forever, so they take turns.
    if (engine.name === 'SQLite') for (const n of numbers) await add(n);
    else await Promise.all(numbers.map(add));
    const found = await check();
    expect(found).toMatchObject({ exitCode: 0, entries: 40, broken: null });
    expect((await auditLog.list(one.reader, {})).at(-1)?.hash).toBe(found.lastHash);
    const { stdout } = await runCommandLine(url, ['audit', 'check']);
    expect(stdout).toContain(`40 entries, unbroken. The last hash: ${found.lastHash}`);
  });

  it.each([
    ['changed', "update audit_log set actor = 'nobody' where subject_id = 'E2'", 2, 'was changed'],
    ['changed to null', "update audit_log set mode = null where subject_id = 'E0'", 0, 'was changed'],
    ['removed', "delete from audit_log where subject_id = 'E1'", 1, 'were removed'],
    ['cut off before', "delete from audit_log where subject_id in ('E0', 'E1')", 0, 'were removed'],
  ])('The check of the audit log shows an entry that was %s', async (_what, statement, unbroken, reason) => {
    const { url, check, forge } = await openLog(engine, 5);
    await forge(statement);
    expect(await check()).toMatchObject({
      exitCode: 1,
      entries: unbroken,
      broken: { entry: expect.any(Number) as number, reason: expect.stringContaining(reason) as string },
    });
    const { exitCode, stdout } = await runCommandLine(url, ['audit', 'check']);
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^Entry \d+ is wrong/)]);
  });

  it('The check of the audit log shows that its end was cut off, by its head or by a hash that was noted', async () => {
    const { one, check, forge } = await openLog(engine, 3);
    const { lastHash: noted } = await check();
    await forge("delete from audit_log where subject_id = 'E2'");
    expect(await check()).toMatchObject({
      exitCode: 1,
      entries: 2,
      broken: { entry: null, reason: expect.stringContaining('after the last one') as string },
    });
    // A thief who also knows where the head is kept.
    await one.write((transaction) =>
      sql`update settings set value = (select hash from audit_log order by id desc limit 1)
        where name = 'audit-log-head'`.execute(transaction),
    );
    await record(one, 'E3');
    expect(await check()).toMatchObject({ exitCode: 0, entries: 3 });
    expect(await check('--noted', noted)).toMatchObject({
      exitCode: 1,
      broken: { entry: null, reason: expect.stringContaining('noted') as string },
    });
    const { lastHash } = await check();
    expect(await check('--noted', lastHash)).toMatchObject({ exitCode: 0 });
  });
});
