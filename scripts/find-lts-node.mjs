/** Finds the Node.js version of the Dockerfile, or gets it from npm, so that the server is tested on it too. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { arch, env, execPath, platform, versions } from 'node:process';
import { fileURLToPath } from 'node:url';
import { execute, reasonOf } from './system.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Uses `LTS_NODE`, this process's own Node if it is of the same line, or an earlier download. With `CI=true`, it downloads
 * the npm package that has the binary, 55 MB.
 * @returns {Promise<{ path: string } | { reason: string }>} `reason`: why there is none
 */
export async function findLtsNode() {
  if (env.LTS_NODE) return { path: env.LTS_NODE };
  const [, line = ''] = /^FROM node:(\d+\.\d+)/m.exec(await readFile(join(root, 'Dockerfile'), 'utf8')) ?? [];
  const [major] = line.split('.');
  if (versions.node.startsWith(`${major}.`)) return { path: execPath };
  const directory = join(root, '.tmp', `node-${line}`);
  const path = join(directory, 'package', 'bin', 'node');
  if (existsSync(path)) return { path };
  if (env.CI !== 'true')
    return { reason: `LTS_NODE is not set, and Node ${line} is only downloaded with CI=true` };
  try {
    await mkdir(directory, { recursive: true });
    const options = { timeoutSeconds: 300, cwd: directory };
    const packed = await execute('npm', ['pack', '--silent', `node-${platform}-${arch}@~${line}.0`], options);
    const file = packed.trim().split('\n').at(-1) ?? '';
    await execute('tar', ['xzf', file, 'package/bin/node'], options);
    await rm(join(directory, file));
    return { path };
  } catch (error) {
    return { reason: `Node ${line} could not be had from npm: ${reasonOf(error)}` };
  }
}
