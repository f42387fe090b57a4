/** Saves rows as a CSV file (RFC 4180). */
import { saveFile } from './files.js';

type Cell = string | number;

/** @param rows all with the same fields, whose names are the first line */
export function saveCsv(name: string, rows: readonly Readonly<Record<string, Cell>>[]): void {
  const [first] = rows;
  if (!first) return;
  const lines = [Object.keys(first), ...rows.map((row) => Object.values(row))];
  const text = lines.map((cells) => cells.map(quote).join(',')).join('\r\n');
  saveFile(name, `${text}\r\n`, 'text/csv');
}

/** A text that a spreadsheet would read as a formula gets an apostrophe in front: payers' names come from strangers. */
function quote(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
