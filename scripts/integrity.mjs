/**
 * Writes the hash of each file of the widget's script to `dist/script/integrity.json`: a page that names one runs only
 * the file with that hash. The server shows the tag with them at `/docs/script-hashes`.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const directory = resolve(import.meta.dirname, '../dist/script');
const files = (await readdir(directory, { recursive: true }))
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.js'))
  .sort();

/** @type {Record<string, string>} */
const hashes = {};
for (const name of files) {
  const content = await readFile(join(directory, name));
  hashes[name] = `sha384-${createHash('sha384').update(content).digest('base64')}`;
}
await writeFile(join(directory, 'integrity.json'), `${JSON.stringify(hashes, null, 2)}\n`);
