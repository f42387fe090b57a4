/** Builds the apps in `examples/`, checks their types, and serves them as their readers would. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { extname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { promisify, stripVTControlCharacters } from 'node:util';
import { examples, prepareExamples } from '../../scripts/examples.mjs';
import { freePort } from '../../scripts/system.mjs';

const execute = promisify(execFile);

/** Placeholders of the examples for a reader's own values. */
interface Placeholders {
  readonly apiUrl: string;
  readonly publicKey: string;
  readonly reference: string;
}

export interface ExampleServer {
  readonly url: string;
  close(): Promise<void>;
}

const vite = ['vite', 'build', '--logLevel', 'error'];
/** React's own checks, of strict mode and of hydration, are only in its development build. */
const development = ['--mode', 'development', '--minify', 'false'];

/** Commands, in their order; each must succeed. */
const builds: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'react-19': [[...vite, ...development]],
  'react-18': [
    [...vite, ...development],
    [...vite, '--ssr', 'src/App.tsx', '--outDir', 'dist/server'],
  ],
  'server-rendered': [
    [...vite, ...development, '--outDir', 'dist/client'],
    [...vite, '--ssr', 'src/entry-server.tsx', '--outDir', 'dist/server'],
  ],
  vue: [vite],
  svelte: [vite],
  solid: [vite],
  preact: [vite],
  angular: [['ngc', '-p', 'tsconfig.json'], vite],
  html: [],
};

const typeChecks: Readonly<Record<string, readonly string[]>> = {
  'react-19': ['tsc'],
  'react-18': ['tsc'],
  'server-rendered': ['tsc'],
  vue: ['vue-tsc'],
  svelte: ['svelte-check', '--tsconfig', './tsconfig.json', '--output', 'machine'],
  solid: ['tsc'],
  preact: ['tsc'],
};

export const exampleNames = Object.keys(builds);
export const typeCheckedNames = Object.keys(typeChecks);

/** @returns the reason if the packages of the examples cannot be installed here */
export const installExamples = prepareExamples;

/** @throws Error with the build's output */
export async function buildExample(name: string): Promise<void> {
  for (const command of builds[name] ?? []) await run(name, command);
}

/** @throws Error with the type checker's output */
export async function checkTypes(name: string): Promise<void> {
  await run(name, typeChecks[name] ?? []);
}

/** The lines of `src/mistakes.ts` of the Angular app that its compiler refuses, and those that it should. */
export async function angularMistakes(): Promise<{ refused: number[]; wrong: number[] }> {
  const output = await run('angular', ['ngc', '-p', 'tsconfig.mistakes.json']).then(() => '', String);
  const plain = stripVTControlCharacters(output);
  const refused = [...plain.matchAll(/src\/mistakes\.ts:(\d+):\d+ - error/g)].map(([, line]) => Number(line));
  const lines = (await readFile(join(examples, 'angular/src/mistakes.ts'), 'utf8')).split('\n');
  const wrong = lines.flatMap((line, index) => (line.includes('data-wrong') ? [index + 1] : []));
  return { refused: refused.sort((a, b) => a - b), wrong };
}

/** Runs at most so many of its works at the same time, in the order in which they came. */
export function createQueue(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}

/** The tools of the examples, at most one on each processor. */
const tools = createQueue(availableParallelism());

async function run(name: string, [tool = '', ...args]: readonly string[]): Promise<void> {
  const directory = join(examples, name);
  const own = join(directory, 'node_modules/.bin', tool);
  const executable = existsSync(own) ? own : join(examples, 'node_modules/.bin', tool);
  const mode = args.includes('development') ? 'development' : 'production';
  await tools(async () => {
    const options = { cwd: directory, env: { ...env, NODE_ENV: mode }, timeout: 240_000 };
    try {
      await execute(executable, args, options);
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`${name}: ${tool} ${args.join(' ')}\n${stdout}${stderr}`, { cause: error });
    }
  });
}

/** Serves an example, with the reader's own address, key and order instead of the placeholders. */
export async function serveExample(name: string, placeholders: Placeholders): Promise<ExampleServer> {
  if (name === 'server-rendered') return spawnExample(name, placeholders);
  const directory = join(examples, name, name === 'html' ? '' : 'dist');
  return listen(async (path) => fill(await readFile(join(directory, path), 'utf8'), placeholders));
}

/** The HTML that an example's own React renders on a server for the component with these props. */
export async function renderComponent(name: string, props: Record<string, unknown>): Promise<string> {
  const script = `
    import { renderToString } from 'react-dom/server';
    import { createElement } from 'react';
    import { CryptoCheckout } from 'crypto-checkout/react';
    process.stdout.write(renderToString(createElement(CryptoCheckout, ${JSON.stringify(props)})));`;
  const args = ['--input-type=module', '--eval', script];
  return (await execute(execPath, args, { cwd: join(examples, name) })).stdout;
}

/** Serves the React 18 app with the HTML that its server would have rendered. */
export async function serveRenderedReact18(placeholders: Placeholders): Promise<ExampleServer> {
  const directory = join(examples, 'react-18');
  const script = `
    import { renderToString } from 'react-dom/server';
    import { createElement, StrictMode } from 'react';
    import { App } from './App.js';
    process.stdout.write(renderToString(createElement(StrictMode, null, createElement(App))));`;
  await writeFile(join(directory, 'dist/server/render.mjs'), script);
  const { stdout: html } = await execute(execPath, ['dist/server/render.mjs'], { cwd: directory });
  return listen(async (path) => {
    const text = await readFile(join(directory, 'dist', path), 'utf8');
    return fill(
      text.replace('<main id="app"></main>', () => `<main id="app">${html}</main>`),
      placeholders,
    );
  });
}

function fill(text: string, { apiUrl, publicKey, reference }: Placeholders): string {
  return text
    .replaceAll('https://pay.example.com', apiUrl)
    .replaceAll(/pk_test_(…|\\u2026)/g, publicKey)
    .replaceAll('order-42', reference);
}

const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' };

async function listen(read: (path: string) => Promise<string>): Promise<ExampleServer> {
  const server: Server = createServer(({ url = '/' }, response) => {
    const path = url === '/' ? 'index.html' : url.slice(1);
    read(path).then(
      (text) => response.writeHead(200, { 'Content-Type': types[extname(path)] ?? 'text/css' }).end(text),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      await new Promise((resolve) => server.close(resolve).closeAllConnections());
    },
  };
}

/** An example with a server of its own. */
async function spawnExample(
  name: string,
  { apiUrl, publicKey, reference }: Placeholders,
): Promise<ExampleServer> {
  const port = await freePort();
  const child = spawn(execPath, ['server.mjs'], {
    cwd: join(examples, name),
    env: { ...env, PORT: String(port), API_URL: apiUrl, PUBLIC_KEY: publicKey, ORDER: reference },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', (code) => reject(new Error(`${name} ended with exit code ${code}`)));
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
