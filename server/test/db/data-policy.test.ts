/** Every table says how its rows are wiped with a merchant's test data, and how a customer is erased from them. */
import { describe, expect, it } from 'vitest';
import { productTables } from '../../src/database.js';
import { own } from '../../src/core/db/data-policy.js';
import { sealed, type Sealed } from '../../src/core/db/personal-data.js';
import { sealed as sealedPeople } from '../../src/modules/console/tables.js';
import { sealedRefunds } from '../../src/modules/refunds/tables.js';
import { bigint, table, text, type Table } from '../../src/core/db/table.js';
import { wipingOrder } from '../../src/core/sandbox/wiping-order.js';

const tables: readonly [string, Table][] = Object.entries(productTables);
const order = wipingOrder(productTables).map(({ name }) => name);

describe.each(tables)('the policy of %s', (_name, { facts, key }) => {
  const { wiped } = facts.data;

  it('The policy of a table says why test data stays, or finds the rows to delete', () => {
    if ('kept' in wiped) expect(wiped.kept).toMatch(/\w/);
    else if ('with' in wiped) expect(wiped.with).toMatch(/\w/);
    else {
      expect(wiped.rows('m').length).toBeGreaterThan(0);
      expect(key).not.toEqual([]);
      for (const read of wiped.reads) expect(Object.keys(productTables)).toContain(read);
    }
  });
});

const personalTables = tables.flatMap(([name, { columns, facts, key }]) => {
  const { personal } = facts.data;
  return personal ? [{ name, columns, key, personal }] : [];
});

it.each(personalTables)('the personal data of $name names columns that there are', (of) => {
  const { columns, payment = [], boundTo = ['id'], key = of.key } = of.personal;
  const named = [Object.keys(columns), payment, boundTo, key].flat();
  expect(Object.keys(of.columns)).toEqual(expect.arrayContaining(named));
  expect(key).not.toEqual([]);
  const isOfPayment = Object.values(columns).some((how) => how === 'text' || how === 'json');
  expect(isOfPayment, 'it can be found by its payment').toBe(of.personal.payment !== undefined);
});

it('The personal data of a table includes every encrypted column', () => {
  for (const { table, columns } of [
    ...Object.values<Sealed>(sealed),
    ...Object.values<Sealed>(sealedPeople),
    sealedRefunds,
  ]) {
    expect(Object.keys(productTables[table]?.facts.data.personal?.columns ?? {})).toEqual(
      expect.arrayContaining([...columns]),
    );
  }
});

it('Wiping deletes rows before those that they reference', () => {
  for (const [name, { columns }] of tables) {
    for (const { facts } of Object.values(columns)) {
      const [referenced = ''] = facts.references?.column.split('.') ?? [];
      if (!order.includes(name) || !order.includes(referenced)) continue;
      expect(order.indexOf(name), `${name} before ${referenced}`).toBeLessThan(order.indexOf(referenced));
    }
  }
});

it('Wiping deletes rows before those that their condition reads, and after those that must go first', () => {
  for (const { name, data } of wipingOrder(productTables)) {
    for (const read of data.reads) expect(order.indexOf(name), read).toBeLessThan(order.indexOf(read));
    for (const first of data.after ?? []) expect(order.indexOf(name)).toBeGreaterThan(order.indexOf(first));
  }
});

it('A new table gets its place in the wiping order from its references', () => {
  const shelves = table(own, { id: text().primaryKey(), merchant_id: text(), mode: text() });
  const lanterns = table(own, {
    shelf_id: text().references('shelves.id'),
    merchant_id: text(),
    mode: text(),
    place: bigint(),
  }).primaryKey('shelf_id', 'place');
  expect(wipingOrder({ shelves, lanterns }).map(({ name }) => name)).toEqual(['lanterns', 'shelves']);
});
