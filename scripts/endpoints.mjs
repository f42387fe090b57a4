/** `npm run endpoints`: lists every endpoint of the API. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const help = `Lists the endpoints of the API: method, path, and the kind of key that is required.

  npm run endpoints -- [--json]

  --json     print a JSON array with resource, verb, method, path, aliases and key
  --help     show this help`;

/** @typedef {{resource: string, verb: string, method: string, path: string, aliases: readonly string[], key: string}} Row */

/** @returns {Promise<Row[]>} in the order of the contract's table */
async function readEndpoints() {
  const { api, endpointsOf } = await import('crypto-checkout/contract');
  return endpointsOf(api).map(({ resource, verb, endpoint: { method, path, aliases = [], key } }) => ({
    resource,
    verb,
    method,
    path,
    aliases,
    key,
  }));
}

/** Exits with 2 if an option is invalid. */
function readOptions() {
  try {
    return parseArgs({ options: { json: { type: 'boolean' }, help: { type: 'boolean' } } }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    process.exit(2);
  }
}

const options = readOptions();
if (options.help) {
  console.log(help);
  process.exit(0);
}
if (!existsSync(fileURLToPath(new URL('../dist/contract/index.js', import.meta.url)))) {
  console.error('dist/contract/index.js does not exist. Run: npm run build');
  process.exit(1);
}

const rows = await readEndpoints();
if (options.json) {
  console.log(JSON.stringify(rows, null, 2));
} else {
  const width = Math.max(...rows.map(({ path }) => path.length));
  for (const { method, path, key } of rows) console.log(`${method.padEnd(6)}  ${path.padEnd(width)}  ${key}`);
  console.log(`${rows.length} endpoints`);
}
