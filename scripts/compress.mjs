/** Compresses the widget's script and its chunks once, so that the server only has to send them: `.br` and `.gz` next to each file. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const dist = resolve(import.meta.dirname, '../dist/script');
/** Below this size, compression saves less than its header costs. */
const smallestBytes = 500;
const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

// Only developers read source maps, and they are most of the package already.
const files = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith('.js'));

await Promise.all(
  files.map(async (name) => {
    const content = await readFile(join(dist, name));
    if (content.length < smallestBytes) return;
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
    const [br, gz] = await Promise.all([brotliAsync(content, { params }), gzipAsync(content, { level: 9 })]);
    await Promise.all([writeFile(join(dist, `${name}.br`), br), writeFile(join(dist, `${name}.gz`), gz)]);
  }),
);
