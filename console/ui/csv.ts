/** Saves rows as a CSV file. */
import { csvLine } from '../../src/contract/csv.js';
import { saveFile } from './files.js';

type Cell = string | number;

/** @param rows all with the same fields, whose names are the first line */
export function saveCsv(name: string, rows: readonly Readonly<Record<string, Cell>>[]): void {
  const [first] = rows;
  if (!first) return;
  const lines = [Object.keys(first), ...rows.map((row) => Object.values(row))];
  saveFile(name, lines.map((cells) => csvLine(cells.map(String))).join(''), 'text/csv');
}
