/** `npm run endpoints`: lists every endpoint of the API and whether the built server serves it. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const help = `Lists the endpoints of the API: method, path, the least key it takes, and served or 501.

  npm run endpoints -- [--missing] [--json]

  --missing  only those that are declared and not served yet (they answer 501 not_implemented)
  --json     one JSON array: resource, verb, method, path, aliases, key, served
  --help     this text`;

/** @typedef {{resource: string, verb: string, method: string, path: string, aliases: readonly string[], key: string, served: boolean}} Row */

/** @returns {Promise<Row[]>} the API's table, in its order, against the server's own table of handlers */
async function readEndpoints() {
  const { api } = await import('crypto-checkout/contract');
  /** @type {{handlers: Record<string, Record<string, unknown> | undefined>}} */
  const { handlers } = await import(new URL('../server/dist/handlers.js', import.meta.url).href);
  return Object.entries(api).flatMap(([resource, verbs]) =>
    Object.entries(verbs).map(([verb, { method, path, aliases = [], key }]) => ({
      resource,
      verb,
      method,
      path,
      aliases,
      key,
      served: handlers[resource]?.[verb] !== undefined,
    })),
  );
}

/** @param {readonly Row[]} rows */
function table(rows) {
  const width = Math.max(...rows.map(({ path }) => path.length));
  return rows.map(
    ({ method, path, key, served }) =>
      `${method.padEnd(6)}  ${path.padEnd(width)}  ${key.padEnd(6)}  ${served ? 'served' : '501'}`,
  );
}

/** What is asked for; a wrong option ends the command with 2. */
function readOptions() {
  try {
    return parseArgs({
      options: { missing: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
    }).values;
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
for (const built of ['../dist/contract/index.js', '../server/dist/handlers.js']) {
  if (existsSync(fileURLToPath(new URL(built, import.meta.url)))) continue;
  console.error(`${built.replace('../', '')} is not there: run npm run build first`);
  process.exit(1);
}

const all = await readEndpoints();
const listed = options.missing ? all.filter(({ served }) => !served) : all;
if (options.json) {
  console.log(JSON.stringify(listed, null, 2));
} else {
  const missing = all.filter(({ served }) => !served).length;
  console.log(
    [...table(listed), `${all.length} endpoints: ${all.length - missing} served, ${missing} not yet`].join(
      '\n',
    ),
  );
}
