/** `npm run openapi`: writes openapi.json from the built server's table, or checks that it is up to date. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const help = `Writes openapi.json, the description of the API, from the built server.

  npm run openapi                 write it
  npm run openapi -- --check      fail if openapi.json is out of date
  npm run openapi -- --help       show this help`;

const file = fileURLToPath(new URL('../openapi.json', import.meta.url));
const [option, ...more] = process.argv.slice(2);

if (more.length > 0 || (option !== undefined && option !== '--check')) {
  console.log(help);
  process.exit(option === '--help' && more.length === 0 ? 0 : 2);
}

/** @type {{ product: object }} */
const { product } = await import(new URL('../server/dist/modules.js', import.meta.url).href);
/** @type {{ createOpenApi: (serverUrl: string, described: object) => object }} */
const { createOpenApi } = await import(
  new URL('../server/dist/core/reference/openapi.js', import.meta.url).href
);
const text = `${JSON.stringify(createOpenApi('/', product), null, 2)}\n`;

if (option === undefined) await writeFile(file, text);
else if ((await readFile(file, 'utf8')) !== text) {
  console.error('openapi.json is out of date. Run: npm run openapi');
  process.exitCode = 1;
}
