/**
 * A package registry on loopback with the packages installed in this repository, so that a test can `npm install`
 * anywhere.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Registry {
  readonly url: string;
  /** The names that were requested from it. */
  readonly asked: ReadonlySet<string>;
  close(): Promise<void>;
}

export async function startRegistry(): Promise<Registry> {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-registry-'));
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as { packages: object };
  const asked = new Set<string>();
  // Packages for other platforms are in the lock file, and not installed. Those of this repository are in no registry.
  const installed = Object.keys(lock.packages).filter(
    (folder) =>
      !/(^|\/)crypto-checkout[\w-]*$/.test(folder) && existsSync(join(root, folder, 'package.json')),
  );
  const tarballOf = (name: string, version: string) =>
    join(directory, `${name.replace('/', '-')}-${version}.tgz`);

  async function pack(name: string, folder: string, version: string): Promise<Buffer> {
    const file = tarballOf(name, version);
    const source = await realpath(join(root, folder));
    // npm unpacks no links, and the binary of the database's driver is a link.
    const links = ['--hard-dereference', '--exclude=./node_modules'];
    const args = ['-I', 'gzip -1', '-cf', file, '-C', source, ...links, '--transform=s,^\\.,package,', '.'];
    await promisify(execFile)('tar', args);
    return readFile(file);
  }

  /** A package can be installed in several versions, nested in those that need it. */
  async function describe(name: string, url: string): Promise<string> {
    const folders = installed.filter((folder) => folder.endsWith(`node_modules/${name}`));
    if (folders.length === 0) throw new Error(`${name} is not installed`);
    const versions: Record<string, object> = {};
    for (const folder of folders) {
      const text = await readFile(join(root, folder, 'package.json'), 'utf8');
      const manifest = JSON.parse(text) as { version: string };
      const { version } = manifest;
      const content = await pack(name, folder, version);
      const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
      versions[version] = { ...manifest, dist: { tarball: `${url}/${name}/-/${version}.tgz`, integrity } };
    }
    const [latest] = Object.keys(versions);
    return JSON.stringify({ name, 'dist-tags': { latest }, versions });
  }

  const server = createServer(({ url: path = '' }, response) => {
    const [, name = '', version] =
      /^\/((?:@[\w-]+\/)?[\w.-]+)(?:\/-\/([\w.+-]+)\.tgz)?$/.exec(decodeURIComponent(path)) ?? [];
    asked.add(name);
    const content = version ? readFile(tarballOf(name, version)) : describe(name, address());
    content.then(
      (body) => response.end(body),
      () => response.writeHead(404).end('{}'),
    );
  });
  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: address(),
    asked,
    async close() {
      await new Promise((resolve) => server.close(resolve).closeAllConnections());
      await rm(directory, { recursive: true, force: true });
    },
  };
}
