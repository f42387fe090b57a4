/**
 * Copies files of `examples/` into the docs. In Markdown, a comment `<!-- include examples/vue/src/Checkout.vue -->`
 * precedes the code block that shows the file. With `--check`, it only says which blocks differ.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { argv } from 'node:process';

const root = resolve(import.meta.dirname, '..');
const isCheck = argv.includes('--check');
const include = /<!-- include (?<path>\S+) -->\n\n```(?<language>\w+)\n(?<code>[\s\S]*?)```/g;

const docs = (await readdir(join(root, 'docs')))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
let differences = 0;
for (const name of ['README.md', ...docs]) {
  const text = await readFile(join(root, name), 'utf8');
  let updated = text;
  for (const { 0: block, groups: { path = '', language = '', code = '' } = {} } of text.matchAll(include)) {
    const file = await readFile(join(root, path), 'utf8');
    if (code === file) continue;
    differences += 1;
    if (isCheck) console.log(`${name}: the code of ${path} is not what the file has`);
    updated = updated.replace(block, () => `<!-- include ${path} -->\n\n\`\`\`${language}\n${file}\`\`\``);
  }
  if (!isCheck && updated !== text) await writeFile(join(root, name), updated);
}
process.exitCode = isCheck && differences > 0 ? 1 : 0;
