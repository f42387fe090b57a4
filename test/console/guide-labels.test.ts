/** The guides name buttons of the console as the console does: a reader looks for these words on the screen. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

async function readTexts(): Promise<string> {
  const folder = join(root, 'console/messages');
  const files = await Promise.all(
    (await readdir(folder)).map((file) => readFile(join(folder, file), 'utf8')),
  );
  return files.join('\n');
}

/** The cells of the tables' columns that are headed "In the console". */
function consoleCells(guide: string): string[] {
  const cellsOf = (line: string) => line.split('|').slice(1, -1);
  let column = -1;
  return guide.split('\n').flatMap((line) => {
    if (!line.startsWith('|')) {
      column = -1;
      return [];
    }
    if (column < 0) column = cellsOf(line).findIndex((cell) => cell.trim() === 'In the console');
    return cellsOf(line)[column] ?? [];
  });
}

it.each(['docs/support-desk.md', 'docs/moving-coins.md'])(
  '%s names buttons as they are on the screen',
  async (path) => {
    const texts = await readTexts();
    const cells = consoleCells(await readFile(join(root, path), 'utf8'));
    const labels = cells.flatMap((cell) =>
      [...cell.matchAll(/\*\*(.+?)\*\*/g)].map(([, label = '']) => label),
    );
    expect(labels.length).toBeGreaterThan(5);
    expect(labels.filter((label) => !texts.includes(label))).toEqual([]);
  },
);
