/** The order in which a reset deletes the rows of tables. */
import type { WipedRows } from '../db/data-policy.js';
import type { Table, Tables } from '../db/table.js';

export interface WipedTable {
  readonly name: string;
  readonly table: Table;
  readonly data: WipedRows;
}

/** The tables that have rows to delete: each before those that it references, or that its conditions read. */
export function wipingOrder(tables: Tables): readonly WipedTable[] {
  const wiped = Object.entries(tables).flatMap(([name, table]): WipedTable[] => {
    const { wiped: data } = table.facts.data;
    return 'rows' in data ? [{ name, table, data }] : [];
  });
  const inOrder = new Set<WipedTable>();
  const seen = new Set<WipedTable>();
  const add = (one: WipedTable): void => {
    if (seen.has(one)) return;
    seen.add(one);
    for (const other of wiped) if (isBefore(other, one)) add(other);
    inOrder.add(one);
  };
  for (const one of wiped) add(one);
  const sorted = [...inOrder];
  return [...sorted.filter(({ data }) => !data.isLast), ...sorted.filter(({ data }) => data.isLast)];
}

function isBefore(one: WipedTable, other: WipedTable): boolean {
  const { reads } = one.data;
  return (
    [...reads, ...referencesOf(one.table)].includes(other.name) ||
    other.data.after?.includes(one.name) === true
  );
}

const referencesOf = ({ columns }: Table): readonly string[] =>
  Object.values(columns).flatMap(({ facts }) => facts.references?.column.split('.')[0] ?? []);
