/**
 * The server without some of its modules: without their lines in the list and without their folders, it compiles, takes a
 * payment, keeps the specification, and has nothing of them left.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { Module } from '../../src/core/module.js';
import { modules } from '../../src/modules.js';
import { resources as coreResources } from '../../src/core/reference/resources.js';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const copies = join(root, '.tmp/without');
export const limitMs = 600_000;

/** The rest of the server, as it describes itself. */
export interface Left {
  readonly paths: readonly string[];
  readonly resources: readonly string[];
  readonly events: readonly string[];
  readonly tables: readonly string[];
  readonly commands: readonly string[];
  /** Help texts: of the server, and of each group of commands and each command, by its name. */
  readonly helps: readonly (readonly [name: string, text: string])[];
  readonly jobs: readonly string[];
  /** The names of environment variables. */
  readonly settings: readonly string[];
  /** By the module that they belong to. */
  readonly jobsOf: Readonly<Record<string, readonly string[]>>;
  readonly permissions: readonly string[];
  /** The paths of those that the server prints, and of those in the menu of the docs. */
  readonly pages: readonly string[];
  /** The types of the widget's file and of a hosted page. */
  readonly types: readonly string[];
  /** The status of an endpoint for the console's pages: 401 asks to sign in. */
  readonly consoleStatus: number;
  /** The pages that may read a reply at the console's path: only its own, or, where nothing is at that path, all. */
  readonly consoleReaders: string | null;
  /** The docs that an error reply links to. */
  readonly docsUrl: string | null;
  /** A payment that the server took, and its webhooks, in their order. */
  readonly payment: {
    readonly id: string;
    readonly amount: number;
    readonly amountReceived: number;
    readonly status: string;
  };
  readonly webhooks: readonly {
    readonly type: string;
    readonly isSigned: boolean;
    readonly id: string;
    readonly amountReceived: number;
  }[];
}

/** Prints it, from the compiled server in the folder where it runs, which first takes a payment. */
const report = `
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { commands, groups } from './dist/command-line/registry.js';
import { commandHelp, groupHelp } from './dist/core/commands/help.js';
import { readConfig } from './dist/core/config.js';
import { modules, product, settings } from './dist/modules.js';
import { startServer } from './dist/server.js';
const environment = {
  PORT: '0',
  HOST: '127.0.0.1',
  DATABASE_URL: 'sqlite:left.db',
  DATABASE_CREATE: 'on',
  BLOCK_INTERVAL_MS: '0',
};
const config = readConfig(environment, settings);
const server = await startServer(config, pino({ level: 'silent' }));

let secret = '';
const webhooks = [];
const shop = createServer(async (request, response) => {
  const body = await text(request);
  const { type, data } = JSON.parse(body);
  let isSigned = true;
  try {
    new Webhook(secret).verify(body, request.headers);
  } catch {
    isSigned = false;
  }
  webhooks.push({ type, isSigned, id: data.id, amountReceived: data.amountReceived });
  response.writeHead(204).end();
  shop.emit('webhook');
}).listen(0, '127.0.0.1');
await once(shop, 'listening');
const { merchantId, made } = server.bootstrapped;
const url = 'http://127.0.0.1:' + shop.address().port;
secret = await server.database.write((transaction) =>
  server.app.endpoints.set(transaction, { merchantId, mode: 'test' }, url),
);
async function call(key, method, path, body) {
  const headers = { Authorization: 'Bearer ' + key, ...(body && { 'Content-Type': 'application/json' }) };
  const response = await fetch(server.url + path, { method, headers, body: body && JSON.stringify(body) });
  const { data, message } = await response.json();
  if (!response.ok) throw new Error(method + ' ' + path + ': ' + message);
  return data;
}
const { publicKey, secretKey } = made;
const { payment } = await call(publicKey, 'POST', '/v1/payments/checkout', { amount: 10, baseCurrency: 'USD' });
const path = '/v1/payments/' + payment.id;
await call(publicKey, 'PATCH', path + '/currency/set/USDT/tron');
const { addressInformation, amount } = await call(publicKey, 'PATCH', path + '/currency/lock');
const transfer = { network: 'tron', currency: 'USDT', address: addressInformation.address, amount };
await call(secretKey, 'POST', '/sandbox/transfers', transfer);
const arrived = once(shop, 'webhook', { signal: AbortSignal.timeout(20_000) });
await call(secretKey, 'POST', '/sandbox/blocks', { network: 'tron', count: 3 });
await arrived;
const { status, amountReceived } = await call(secretKey, 'GET', '/v1/transactions/' + payment.id + '/verify');

const { body } = await fetch(server.url + '/openapi.json');
const openApi = await new Response(body).json();
const typeOf = async (path) => (await fetch(server.url + path)).headers.get('content-type');
const docs = await fetch(server.url + '/docs');
const menu = docs.ok ? await docs.text() : '';
const tables = await server.database.reader.introspection.getTables();
console.log(JSON.stringify({
  paths: Object.keys(openApi.paths),
  resources: Object.keys(product.resources),
  events: Object.keys(openApi.webhooks),
  tables: tables.map(({ name }) => name),
  commands: [...commands.keys()],
  helps: [
    ['start', execFileSync(process.execPath, ['dist/main.js', 'start', '--help'], { encoding: 'utf8' })],
    ...groups.map((group) => [group.name, groupHelp(group.name, [group])]),
    ...[...commands].map(([name, command]) => [name, commandHelp(name, command)]),
  ],
  jobs: server.jobs.map(({ name }) => name),
  settings: Object.keys(settings),
  jobsOf: Object.fromEntries(
    modules.map((one) => [one.name, (one.rules(server.app).jobs?.() ?? []).map(({ name }) => name)]),
  ),
  permissions: product.permissions.of('owner', { ...product.api, ...product.console }),
  pages: [
    ...Object.values(server.pages).map((url) => new URL(url).pathname.slice(1)),
    ...new Set([...menu.matchAll(/<a href="(docs.[^"#]+)"/g)].map(([, path]) => path)),
  ],
  types: [await typeOf('/crypto-checkout.js'), await typeOf('/pay/NOBODY')],
  consoleStatus: (await fetch(server.url + '/console/api/session', { headers: { 'Sec-Fetch-Site': 'same-origin' } })).status,
  consoleReaders: (await fetch(server.url + '/console')).headers.get('access-control-allow-origin'),
  docsUrl: (await (await fetch(server.url + '/v1/nothing')).json()).data.docsUrl ?? null,
  payment: { id: payment.id, amountReceived, status, amount },
  webhooks,
}));
await server.stop();
shop.closeAllConnections();
shop.close();
rmSync('left.db', { force: true });
`;

/**
 * The specification runs on the compiled server, which is also what people start: transforming all its sources again for each
 * module took most of the time.
 */
const testConfig = (folder: string) => `
import { defineConfig } from 'vitest/config';
export default defineConfig({
  resolve: { alias: [{ find: /^(\\.\\.\\/)+src\\//, replacement: ${JSON.stringify(join(folder, 'server/dist/'))} }] },
  test: {
    globalSetup: ['test/postgres.setup.ts'],
    setupFiles: ['server/test/guard.setup.ts'],
    server: { deps: { external: [/\\/dist\\//] } },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 1,
    isolate: false,
    expect: { requireAssertions: true, poll: { timeout: 5000 } },
    pool: 'forks',
  },
});
`;

/** The specification, and what it needs. */
const testParts = [
  ...['test/spec.test.ts', 'test/spec.long.test.ts', 'test/spec.ts', 'test/guard.setup.ts', 'test/support'],
  'test/webhooks/receiver.ts',
];

/** Copies the server without some modules, and compiles it. @param name of the copy */
export async function build(name: string, without: readonly string[]): Promise<string> {
  const folder = join(copies, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'server'), { recursive: true });
  for (const part of ['src', 'data', 'package.json', ...testParts])
    await cp(join(root, 'server', part), join(folder, 'server', part), { recursive: true });
  for (const module of without) {
    await rm(join(folder, 'server/src/modules', module), { recursive: true });
    const list = join(folder, 'server/src/modules.ts');
    const text = await readFile(list, 'utf8');
    const [, constant = ''] =
      new RegExp(`import \\{ (\\w+) \\} from '\\./modules/${module}/module\\.js'`).exec(text) ?? [];
    const left = text
      .split('\n')
      .filter((line) => !line.includes(`'./modules/${module}/module.js'`))
      .join('\n')
      .replace(new RegExp(`\\b${constant}\\b,? ?`), '');
    expect(left).not.toMatch(new RegExp(`\\b${constant}\\b`));
    await writeFile(list, left);
  }
  const config = {
    extends: '../../../../server/tsconfig.json',
    compilerOptions: {
      rootDir: 'src',
      outDir: 'dist',
      tsBuildInfoFile: 'dist/.tsbuildinfo',
      noUnusedLocals: false,
      skipLibCheck: true,
    },
    include: ['src', 'src/**/*.json'],
    references: [{ path: '../../../../src' }],
  };
  await writeFile(join(folder, 'server/tsconfig.json'), JSON.stringify(config));
  await writeFile(join(folder, 'server/report.mjs'), report);
  await writeFile(join(folder, 'vitest.config.ts'), testConfig(folder));
  // The tests find the widget, the helpers of other tests and the packages where they always are.
  for (const part of ['src', 'test', 'scripts', 'tsconfig.base.json', 'contracts', 'server/node_modules'])
    await symlink(join(root, part), join(folder, part));
  const compiler = join(root, 'node_modules/typescript-native/bin/tsc');
  // Several compile at a time, and each checker of one would read the same types again.
  const args = [compiler, '-p', join(folder, 'server'), '--singleThreaded'];
  const compiled = await run('node', args, { cwd: root }).catch(
    (error: unknown) => error as { readonly stdout: string },
  );
  expect(compiled.stdout, 'it compiles').toBe('');
  return folder;
}

export async function readLeft(folder: string): Promise<Left> {
  const { stdout } = await run('node', ['report.mjs'], { cwd: join(folder, 'server') });
  const left = JSON.parse(stdout) as Left;
  const { id, amount, amountReceived, status } = left.payment;
  expect([status, amountReceived], 'it takes a payment').toEqual(['success', amount]);
  expect(left.webhooks).toEqual([{ type: 'payment.success', isSigned: true, id, amountReceived }]);
  return left;
}

/** The guides that begin with the name of a module. */
async function guidesOf(module: string): Promise<string[]> {
  const names = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'));
  const texts = await Promise.all(names.map((name) => readFile(join(root, 'docs', name), 'utf8')));
  return names
    .filter((_name, index) => texts[index]?.startsWith(`<!-- module: ${module} -->`))
    .map((name) => `docs/${name.slice(0, -'.md'.length)}`);
}

/** The pages of modules that are pages. */
const ownPages: Readonly<Record<string, RegExp>> = {
  'docs-site': /^docs/,
  'demo-shop': /^(demo\/.*)?$/,
  console: /^console$/,
};

export const without = (whole: readonly string[], left: readonly string[]) =>
  whole.filter((one) => !left.includes(one));

/** Commands that help texts name, each with the name of the text. A line break can be in a command's name. */
export const namedIn = ({ helps }: Left, commands: readonly string[]): string[] =>
  commands.flatMap((command) => {
    const words = new RegExp(`(?<![\\w-])${command.replaceAll(' ', '\\s+')}(?![\\w-])`);
    return helps.filter(([, text]) => words.test(text)).map(([name]) => `${name}: ${command}`);
  });

/** A module and those that cannot be without it, in the order of the list. */
function goingWith(name: string): Module[] {
  const gone = new Set([name]);
  for (const one of modules) if (one.requires.some((required) => gone.has(required))) gone.add(one.name);
  return modules.filter((one) => gone.has(one.name));
}

export const onSqlite = 'server/test/spec.test.ts';
export const onPostgres = 'server/test/spec.long.test.ts';

export async function keepsTheSpecification(folder: string, ...files: string[]): Promise<void> {
  const { stdout } = await run(
    join(root, 'node_modules/.bin/vitest'),
    ['run', '--root', folder, ...files],
    // Another PostgreSQL would only take time to start.
    { cwd: folder, env: { ...process.env, NO_COLOR: '1', TEST_DATABASE_URL: inject('postgresUrl') } },
  );
  expect(stdout).toMatch(new RegExp(`Test Files\\s+${files.length} passed`));
}

/** As it is built already. */
async function readWhole(): Promise<Left> {
  const folder = join(copies, 'nothing');
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'server'), { recursive: true });
  await symlink(join(root, 'server/dist'), join(folder, 'server/dist'));
  await writeFile(join(folder, 'server/report.mjs'), report);
  return readLeft(folder);
}

/** The pages that go with modules, but for those of the reference. */
async function pagesOf(gone: readonly Module[], { pages }: Left): Promise<string[]> {
  const guides = (await Promise.all(gone.map(({ name }) => guidesOf(name)))).flat();
  return pages.filter((path) => guides.includes(path) || gone.some(({ name }) => ownPages[name]?.test(path)));
}

/** Builds the server without these modules, and tests what is left. */
async function expectNothingLeft(gone: readonly Module[], whole: Left): Promise<void> {
  const names = gone.map(({ name }) => name);
  const folder = await build(names.join('-'), names);
  const left = await readLeft(folder);
  const verbs = [
    ...gone.map(({ contract }) => contract),
    ...gone.map(({ consoleContract }) => consoleContract),
  ].flatMap((contract) =>
    Object.entries(contract).flatMap(([resource, endpoints]) =>
      // Endpoints without a key need no permission.
      Object.entries(endpoints).flatMap(([verb, { key }]) => (key === 'none' ? [] : `${resource}.${verb}`)),
    ),
  );
  const keysOf = (of: (module: Module) => object) => gone.flatMap((module) => Object.keys(of(module)));
  expect(without(whole.permissions, left.permissions)).toEqual(verbs);
  expect(without(whole.tables, left.tables).sort()).toEqual(keysOf(({ tables }) => tables).sort());
  expect(without(whole.resources, left.resources)).toEqual(keysOf((module) => module.resources));
  expect(without(whole.events, left.events)).toEqual(keysOf(({ eventTypes }) => eventTypes));
  const commands = gone.flatMap((module) =>
    module.commands.flatMap(({ name: group, commands: verbsOfGroup }) =>
      Object.keys(verbsOfGroup).map((verb) => `${group} ${verb}`.trim()),
    ),
  );
  expect(without(whole.commands, left.commands).sort()).toEqual(commands.sort());
  expect(namedIn(left, commands), 'help texts name removed commands').toEqual([]);
  const paths = gone.flatMap(({ contract }) =>
    Object.values(contract).flatMap((endpoints) => Object.values(endpoints).map(({ path }) => path)),
  );
  expect(without(whole.paths, left.paths).sort()).toEqual([...new Set(paths)].sort());
  expect(without(whole.jobs, left.jobs)).toEqual(gone.flatMap((module) => whole.jobsOf[module.name] ?? []));
  expect(without(whole.settings, left.settings)).toEqual(keysOf(({ settings }) => settings));
  const isOfReference = (path: string) => path.startsWith('docs/api/') && left.pages.includes('docs');
  const pages = without(whole.pages, left.pages).filter((path) => !isOfReference(path));
  expect(pages.sort()).toEqual((await pagesOf(gone, whole)).sort());
  // A link to docs leads somewhere.
  expect(left.docsUrl !== null).toBe(left.pages.includes('docs'));
  expect(left.consoleStatus).toBe(left.pages.includes('console') ? 401 : 404);
  expect(left.types).toEqual(['text/javascript; charset=utf-8', 'text/html; charset=utf-8']);
  expect(left.resources).toEqual(expect.arrayContaining(Object.keys(coreResources)));
  await keepsTheSpecification(folder, onSqlite);
}

/** Deletes the copies after the tests. @returns the whole server, once they run */
export function useWhole(): () => Left {
  let whole: Left;
  beforeAll(async () => {
    whole = await readWhole();
  }, limitMs);
  afterAll(() => rm(copies, { recursive: true, force: true }));
  return () => whole;
}

/** Leaves out each module, and those that cannot be without it. */
export function testEachCut(): void {
  const whole = useWhole();
  it.concurrent.each(modules.map(({ name }) => [name, goingWith(name)] as const))(
    'The server works without %s, and nothing of that module is left',
    async (_name, gone) => expectNothingLeft(gone, whole()),
    limitMs,
  );
}
