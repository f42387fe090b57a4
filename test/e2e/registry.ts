/** A package registry on loopback that has what is installed in this repository, so that a test can `npm install` anywhere. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const nodeModules = fileURLToPath(new URL('../../node_modules/', import.meta.url));

export interface Registry {
  readonly url: string;
  close(): Promise<void>;
}

export async function startRegistry(): Promise<Registry> {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-registry-'));

  async function pack(name: string): Promise<Buffer> {
    const file = join(directory, `${name.replace('/', '-')}.tgz`);
    const source = await realpath(join(nodeModules, name));
    const args = ['-czf', file, '-C', source, '--exclude=./node_modules', '--transform=s,^\\.,package,', '.'];
    await promisify(execFile)('tar', args);
    return readFile(file);
  }

  async function describe(name: string, url: string): Promise<string> {
    const text = await readFile(join(nodeModules, name, 'package.json'), 'utf8');
    const manifest = JSON.parse(text) as { version: string };
    const integrity = `sha512-${createHash('sha512')
      .update(await pack(name))
      .digest('base64')}`;
    const dist = { tarball: `${url}/${name}/-/package.tgz`, integrity };
    const versions = { [manifest.version]: { ...manifest, dist } };
    return JSON.stringify({ name, 'dist-tags': { latest: manifest.version }, versions });
  }

  const server = createServer(({ url: path = '' }, response) => {
    const [, name = '', isTarball] =
      /^\/((?:@[\w-]+\/)?[\w.-]+)(\/-\/package\.tgz)?$/.exec(decodeURIComponent(path)) ?? [];
    const content = isTarball
      ? readFile(join(directory, `${name.replace('/', '-')}.tgz`))
      : describe(name, address());
    content.then(
      (body) => response.end(body),
      () => response.writeHead(404).end('{}'),
    );
  });
  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: address(),
    async close() {
      await new Promise((resolve) => server.close(resolve).closeAllConnections());
      await rm(directory, { recursive: true, force: true });
    },
  };
}
