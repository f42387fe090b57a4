/**
 * The widget's tests (`test/**` + `/*.browser.test.ts`) in a real browser, from the TypeScript sources. If the server
 * is built, one runs with them: `GET /__server` returns its address and keys, and `/v1` and `/sandbox` are passed on to it,
 * so a test drives the simulated chain from its own origin. Blocks come only when a test asks for them.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { env } from 'node:process';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { esbuildPlugin } from '@web/dev-server-esbuild';
import { defaultReporter } from '@web/test-runner';
import { chromeLauncher } from '@web/test-runner-chrome';
import { startApiServer } from './scripts/api-server.mjs';
import { findHeadlessShell } from './scripts/find-browser.mjs';
import { isQrcode, toModule } from './scripts/qrcode-modules.mjs';

const { executablePath, args } = await findHeadlessShell();

function apiServerPlugin() {
  /** @type {import('./scripts/api-server.mjs').ApiServer | undefined} */
  let server;
  return {
    name: 'api-server',
    async serverStart() {
      if (existsSync(new URL('server/dist/main.js', import.meta.url))) server = await startApiServer();
    },
    async serverStop() {
      await server?.stop();
    },
    /** @param {{ path: string }} context */
    async serve({ path }) {
      if (path !== '/__server') return undefined;
      if (!server) throw new Error('The server is not built: npm run build');
      const { url, publicKey, secretKey } = server;
      return { body: JSON.stringify({ url, publicKey, secretKey }), type: 'json' };
    },
    /** @returns {string | undefined} */
    address: () => server?.url,
  };
}

const apiServer = apiServerPlugin();

const qrcodePlugin = {
  name: 'qrcode',
  /** @param {{ path: string, body: unknown }} context */
  transform: ({ path, body }) => (isQrcode(path) && typeof body === 'string' ? toModule(body) : undefined),
};

/** Passes requests for the API on to it. @type {NonNullable<import('@web/test-runner').TestRunnerConfig['middleware']>[number]} */
const proxy = async (context, next) => {
  const address = apiServer.address();
  if (!address || !/^\/(v1|sandbox)\//.test(context.path)) return next();
  const headers = new Headers();
  for (const [name, value] of Object.entries(context.headers))
    if (!/^(host|connection|content-length)$/.test(name)) headers.set(name, String(value));
  const hasBody = !['GET', 'HEAD'].includes(context.method);
  const reply = await fetch(`${address}${context.url}`, {
    method: context.method,
    headers,
    ...(hasBody && { body: new Uint8Array(await buffer(context.req)) }),
  });
  context.status = reply.status;
  for (const [name, value] of reply.headers)
    if (!/^(content-encoding|transfer-encoding|connection)$/.test(name)) context.set(name, value);
  context.body = Buffer.from(await reply.arrayBuffer());
};

/** Writes the counts, failures and times that `npm test` adds up. @param {string} report */
function countsReporter(report) {
  return {
    /** @param {{ sessions: import('@web/test-runner').TestSession[] }} run */
    async onTestRunFinished({ sessions }) {
      const counts = { passed: 0, failed: 0, skipped: 0, failures: /** @type {string[]} */ ([]) };
      /** @type {Record<string, number>} */
      const seconds = {};
      /** @param {string} name @param {import('@web/test-runner').TestResultError | undefined} error */
      const fail = (name, error) => {
        counts.failed += 1;
        counts.failures.push([name, error?.message, error?.stack].filter(Boolean).join('\n'));
      };
      /** @param {string} file @param {string} name @param {import('@web/test-runner').TestSuiteResult | undefined} suite */
      const count = (file, name, suite) => {
        for (const test of suite?.tests ?? []) {
          seconds[file] = (seconds[file] ?? 0) + (test.duration ?? 0) / 1000;
          if (test.skipped) counts.skipped += 1;
          else if (test.passed) counts.passed += 1;
          else fail(`${name} ${test.name}`, test.error);
        }
        for (const inner of suite?.suites ?? []) count(file, `${name} ${inner.name}`, inner);
      };
      for (const session of sessions) {
        const file = relative(import.meta.dirname, session.testFile ?? '');
        const failedBefore = counts.failed;
        count(file, `${file}:`, session.testResults);
        // A file that does not load or never ends has no failed test of its own.
        if (!session.passed && counts.failed === failedBefore) fail(file, session.errors[0]);
      }
      await writeFile(report, JSON.stringify({ ...counts, seconds }));
    },
  };
}

/** @type {import('@web/test-runner').TestRunnerConfig} */
export default {
  files: 'test/**/*.browser.test.ts',
  nodeResolve: true,
  browsers: [
    chromeLauncher({
      launchOptions: { executablePath, args },
      // Files run side by side: each has a storage of its own, and is seen, since the widget rests while it is not.
      async createPage({ browser }) {
        const page = await (await browser.createBrowserContext()).newPage();
        const session = await page.createCDPSession();
        await session.send('Emulation.setFocusEmulationEnabled', { enabled: true });
        return page;
      },
    }),
  ],
  concurrency: 2,
  testsFinishTimeout: 300_000,
  testFramework: { config: { timeout: 20_000 } },
  middleware: [proxy],
  plugins: [
    esbuildPlugin({
      ts: true,
      target: 'es2022',
      tsconfig: fileURLToPath(new URL('src/tsconfig.json', import.meta.url)),
    }),
    apiServer,
    qrcodePlugin,
  ],
  reporters: [defaultReporter(), ...(env.TEST_COUNTS ? [countsReporter(env.TEST_COUNTS)] : [])],
};
