/**
 * Writes the API's entries of `docs/errors.md` to `server/data/errors.json`, for `/v1/meta` and the OpenAPI document. With
 * `--check`, it only says if they differ.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { argv } from 'node:process';

const path = (/** @type {string} */ name) => resolve(import.meta.dirname, '..', name);
const target = 'server/data/errors.json';

/** @typedef {{ meaning: string, cause: string, remedy: string }} Entry */

const text = await readFile(path('docs/errors.md'), 'utf8');
/** @type {Record<string, Entry>} */
const errors = {};
for (const [, level, code = '', body = ''] of text.matchAll(
  /^(###?) ([a-z_]+)\n\n([^]*?)(?=\n##|(?![^]))/gm,
)) {
  const paragraphs = body.trim().split('\n\n');
  if (paragraphs.length !== 3)
    throw new Error(
      `docs/errors.md: ${code} must have three paragraphs: what it means, when, and what to do`,
    );
  const [meaning = '', cause = '', remedy = ''] = paragraphs.map((one) => one.replaceAll(/\s+/g, ' '));
  const entry = { meaning: meaning.replace(/^HTTP \d{3}[^.]*\. /, ''), cause, remedy };
  // Codes of a lower level are those of the widget and the client.
  if (level === '##') errors[code] = entry;
}

const json = `${JSON.stringify(errors, null, 2)}\n`;
if (!argv.includes('--check')) await writeFile(path(target), json);
else if ((await readFile(path(target), 'utf8')) !== json) {
  console.error(`${target} is not what docs/errors.md says. Run: npm run errors`);
  process.exitCode = 1;
}
