/** The npm packages as their users get them: installed from a tarball, imported, bundled, and started. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, type Rolldown } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../scripts/system.mjs';
import { checkoutOn } from './checkout.js';
import { startRegistry, type Registry } from './registry.js';
import { useStage } from './stage.js';

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const stage = useStage();
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-packages-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;

describe('the widget’s package, installed from the server', () => {
  let registry: Registry;
  let app: string;

  beforeAll(async () => {
    registry = await startRegistry();
    app = join(directory, 'app');
    await mkdir(app);
    const manifest = { name: 'shop', type: 'module', dependencies: { lit: '^3.3.0', zod: '^4.6.7' } };
    await writeFile(join(app, 'package.json'), JSON.stringify(manifest));
    const options = [
      '--no-audit',
      '--no-fund',
      '--silent',
      `--registry=${registry.url}`,
      `--cache=${join(directory, 'cache')}`,
    ];
    await execute('npm', ['install', `${stage.server.url}/crypto-checkout.tgz`, ...options], { cwd: app });
  });
  afterAll(() => registry.close());

  test('The widget’s package has the server’s version, and shares lit and zod with the app', async () => {
    const { version } = await readJson(join(app, 'node_modules/crypto-checkout/package.json'));
    expect(version).toBe((await readJson(join(root, 'package.json')))['version']);
    expect(await readdir(join(app, 'node_modules/crypto-checkout'))).not.toContain('node_modules');
    // React is for those who use it.
    expect(await readdir(join(app, 'node_modules'))).not.toContain('react');
  });

  test('The widget’s package can be imported on a server: nothing is defined there', async () => {
    const script = `
      const names = {};
      for (const entry of ['', '/crypto-checkout', '/client', '/contract'])
        names[entry] = Object.keys(await import('crypto-checkout' + entry)).length > 0;
      console.log(JSON.stringify({ names, window: typeof window, tag: customElements.get('crypto-checkout') ?? null }));`;
    const { stdout } = await execute('node', ['--input-type=module', '--eval', script], { cwd: app });
    expect(JSON.parse(stdout)).toEqual({
      names: { '': true, '/crypto-checkout': true, '/client': true, '/contract': true },
      window: 'undefined',
      tag: null,
    });
  });

  /** The modules that end up in a bundle, and its code. */
  async function bundle(code: string): Promise<{ modules: string[]; code: string }> {
    const entry = join(app, 'entry.js');
    await writeFile(entry, code);
    const output = (await build({
      root: app,
      configFile: false,
      logLevel: 'silent',
      build: { write: false, target: 'es2022', lib: { entry, formats: ['es'], fileName: 'bundle' } },
    })) as Rolldown.RolldownOutput[];
    const chunks = output.flatMap((one) => one.output).filter((one) => one.type === 'chunk');
    const modules = chunks.flatMap((chunk) =>
      Object.entries(chunk.modules).flatMap(([id, { renderedLength }]) => (renderedLength > 0 ? [id] : [])),
    );
    return { modules, code: chunks.map((chunk) => chunk.code).join('\n') };
  }

  test('The widget’s package leaves nothing in a bundle that does not use it', async () => {
    const { modules, code } = await bundle(`
      import { CryptoCheckout } from 'crypto-checkout/crypto-checkout';
      import { createMerchantClient } from 'crypto-checkout/client';
      import { api } from 'crypto-checkout/contract';
      export const nothing = 1;`);
    expect(modules.filter((id) => id.includes('crypto-checkout/dist'))).toEqual([]);
    expect(code.length).toBeLessThan(200);
  });

  test('The main entry defines the tag, and the class does not', async () => {
    expect((await bundle(`import 'crypto-checkout';`)).code).toContain('customElements.define');
    const { code } = await bundle(`export { CryptoCheckout } from 'crypto-checkout/crypto-checkout';`);
    expect(code).not.toContain('customElements.define');
  });

  test('The client comes without lit and without CommonJS', async () => {
    const { modules, code } = await bundle(`
      export { verifyWebhook, verifyPayment, createMerchantClient } from 'crypto-checkout/client';`);
    expect(modules.filter((id) => /node_modules\/(lit|@lit)/.test(id))).toEqual([]);
    expect(modules.filter((id) => /\.cjs|commonjs/i.test(id))).toEqual([]);
    expect(code).not.toMatch(/\brequire\(|module\.exports|__commonJS/);
    console.log(`crypto-checkout/client in a bundle: ${code.length} bytes`);
  });

  test('A webhook can be checked without the rest of the client', async () => {
    const { modules } = await bundle(`export { verifyWebhook } from 'crypto-checkout/client';`);
    expect(modules.filter((id) => /merchant-client|checkout-client/.test(id))).toEqual([]);
  });
});

/** The folder of the widget's package in an installation of the server's. */
const bundled = 'node_modules/crypto-checkout-server/node_modules/crypto-checkout';

describe('the server’s package, installed without the widget’s', () => {
  let registry: Registry;
  let home: string;
  let url: string;
  let stop = (): Promise<unknown> => Promise.resolve();

  beforeAll(async () => {
    registry = await startRegistry();
    home = join(directory, 'server');
    await mkdir(home);
    // In a copy: while it is packed, it has a second copy of the widget's package, which servers of other tests would find.
    const copy = join(directory, 'to-pack');
    for (const name of [
      'scripts',
      'server/dist',
      'server/data',
      'server/package.json',
      'server/README.md',
      'server/LICENSE',
    ])
      await cp(join(root, name), join(copy, name), { recursive: true });
    await execute('npm', ['pack', '--silent', '--pack-destination', home], { cwd: join(copy, 'server') });
    const [tarball = ''] = (await readdir(home)).filter((name) => name.endsWith('.tgz'));
    await writeFile(join(home, 'package.json'), JSON.stringify({ name: 'shop-server', private: true }));
    // The database's driver has its binary in the registry of the test.
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent', `--registry=${registry.url}`];
    await execute(
      'npm',
      ['install', `./${tarball}`, ...options, `--cache=${join(directory, 'server-cache')}`],
      {
        cwd: home,
      },
    );

    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const child = spawn('npx', ['--no-install', 'crypto-checkout-server', 'start'], {
      cwd: home,
      env: { ...env, PORT: String(port), LOG_LEVEL: 'error', NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    stop = () => {
      // npx and the server that it started.
      process.kill(-(child.pid ?? 0), 'SIGTERM');
      return ended;
    };
    await new Promise<void>((resolve, reject) => {
      let output = '';
      child.stdout.on('data', (data: Buffer) => {
        output += data.toString();
        if (output.includes('listens on')) resolve();
      });
      child.once('exit', () => reject(new Error(`The server ended: ${output}`)));
    });
  }, 300_000);
  afterAll(async () => {
    await stop();
    await registry.close();
  });

  test('An installation of the server’s package requests no unreserved name from a registry', async () => {
    const asked = [...registry.asked];
    expect(asked).toEqual(expect.arrayContaining(['express', 'better-sqlite3']));
    expect(asked.filter((name) => name.includes('crypto-checkout'))).toEqual([]);
    const names = await readdir(join(home, 'node_modules'));
    expect(names.filter((name) => name.includes('checkout'))).toEqual(['crypto-checkout-server']);
  });

  test('Packing the server’s package leaves no copy of the widget’s package behind', () => {
    expect(existsSync(join(directory, 'to-pack/server/package.json'))).toBe(true);
    expect(existsSync(join(directory, 'to-pack/server/node_modules/crypto-checkout'))).toBe(false);
  });

  test.each([
    ['/', 'text/html'],
    ['/crypto-checkout.js', 'text/javascript'],
    ['/crypto-checkout.tgz', 'application/gzip'],
    ['/docs', 'text/html'],
    ['/docs.css', 'text/css'],
    ['/docs/errors', 'text/html'],
    ['/openapi.json', 'application/json'],
    ['/pay/page.css', 'text/css'],
    ['/demo-api/config', 'application/json'],
    ['/v1/meta', 'application/json', 401],
  ])('The installed server serves %s', async (path, type, status = 200) => {
    const reply = await fetch(url + path);
    expect([reply.status, reply.headers.get('content-type')?.split(';')[0]]).toEqual([status, type]);
  });

  test('The installed server serves the script compressed, under the name with its version too', async () => {
    const { version } = await readJson(join(home, bundled, 'package.json'));
    const named = await fetch(`${url}/crypto-checkout-${String(version)}.js`);
    expect(named.status).toBe(200);
    const [, chunk = ''] = /["']\.\/(widget-[\w-]+\.js)["']/.exec(await named.text()) ?? [];
    const reply = await fetch(`${url}/${chunk}`, { headers: { 'Accept-Encoding': 'br' } });
    expect(reply.headers.get('content-encoding')).toBe('br');
  });

  test('The installed server shows the demo shop, whose checkout has a test key', async () => {
    const page = await stage.page();
    await page.goto(url);
    await checkoutOn(page).reach('idle');
    expect(await page.locator('crypto-checkout').getAttribute('public-key')).toMatch(/^pk_test_/);
  });

  test('The commands of the server’s package run under its name', async () => {
    const { stdout } = await execute(
      'npx',
      ['--no-install', 'crypto-checkout-server', 'merchants', 'list', '--json'],
      {
        cwd: home,
      },
    );
    expect(JSON.parse(stdout)).toHaveLength(1);
    const help = await execute('npx', ['--no-install', 'crypto-checkout-server', '--help'], { cwd: home });
    expect(help.stdout).toContain('Starts the server.');
  });

  test.each(['crypto-checkout', 'crypto-checkout-server'])(
    '%s has a README, a licence and links that work',
    async (name) => {
      const folder = join(home, name === 'crypto-checkout' ? bundled : `node_modules/${name}`);
      const files = (await readdir(folder, { recursive: true })).filter(
        (file) => !file.includes('node_modules'),
      );
      expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'package.json']));
      const broken: string[] = [];
      for (const file of files.filter((one) => one.endsWith('.md'))) {
        const text = await readFile(join(folder, file), 'utf8');
        for (const [, target = ''] of text.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)) {
          if (!files.includes(join(dirname(file), target).replace(/\/$/, '')))
            broken.push(`${file}: ${target}`);
        }
      }
      expect(broken).toEqual([]);
    },
  );
});

describe('the script with its hashes, as /docs/script-hashes shows it', () => {
  /** A merchant's page with the tags from the docs. */
  async function shop(): Promise<{ url: string; close(): void }> {
    const docs = await (await fetch(`${stage.server.url}/docs/script-hashes`)).text();
    const [, escaped = ''] =
      /<code>((?:<[^>]+>|\s)*&lt;(?:<[^>]+>)*script(?:<[^>]+>|\s)*type(?:<[^>]+>)*=(?:<[^>]+>)*&quot;importmap[\s\S]*?)<\/code>/.exec(
        docs,
      ) ?? [];
    const tags = escaped
      .replace(/<[^>]+>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&');
    expect(tags).toContain('integrity="sha384-');
    const body = `<crypto-checkout public-key="${stage.server.publicKey}" amount="5" base-currency="USD" tx-ref="pinned"></crypto-checkout>`;
    const html = `<!doctype html><html lang="en"><head><title>A shop</title><link rel="icon" href="data:,">${tags}</head><body>${body}</body></html>`;
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(html);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      close: () => server.close().closeAllConnections(),
    };
  }

  test('The script with its hashes runs', async () => {
    const { url, close } = await shop();
    const page = await stage.page();
    await page.goto(url);
    const checkout = checkoutOn(page);
    await checkout.reach('idle');
    await checkout.act();
    await checkout.reach('choosing-currency');
    expect(await checkout.part('option').count()).toBeGreaterThan(1);
    close();
  });

  test.each([
    ['the script', /crypto-checkout-[\d.]+\.js$/],
    ['a file that the script loads at once', /\/widget-/],
    ['a file that the script loads later', /chunks\/flow-/],
  ])('A browser refuses %s if it was changed', async (_name, changed) => {
    const { url, close } = await shop();
    const page = await stage.page({ expectedErrors: /integrity|Failed to load|dynamically imported/ });
    await page.route(changed, async (route) => {
      const reply = await route.fetch();
      await route.fulfill({ response: reply, body: `${await reply.text()}\nglobalThis.stolen = true;` });
    });
    await page.goto(url);
    if (changed.source.includes('flow')) {
      const checkout = checkoutOn(page);
      await checkout.reach('idle');
      await checkout.act();
      await checkout.reach('error');
    } else await page.waitForTimeout(500);
    expect(await page.evaluate(() => 'stolen' in globalThis)).toBe(false);
    expect(await page.evaluate(() => customElements.get('crypto-checkout') !== undefined)).toBe(
      changed.source.includes('flow'),
    );
    close();
  });
});
