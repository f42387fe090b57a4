/** Starts anvil, an Ethereum node for tests and benchmarks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { arch, platform } from 'node:process';

/**
 * @param {number} [port] a free one by default
 * @param {string[]} [options] further ones of the program
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>}
 */
export async function spawnAnvil(port = 0, options = []) {
  const words = ['--host', '127.0.0.1', '--port', String(port), ...options];
  const child = spawn(anvilPath(), words, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  /** @type {string} */
  const url = await new Promise((resolve, reject) => {
    // It is read to the end: anvil would stop at a full pipe.
    child.stdout.on('data', (chunk) => {
      text = (text + String(chunk)).slice(-20_000);
      const listens = /Listening on (127\.0\.0\.1:\d+)/.exec(text)?.[1];
      if (listens !== undefined) resolve(`http://${listens}`);
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`anvil did not start: ${text}`)));
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { url, stop };
}

/** The program itself: the package's own starter would leave it running when it is killed. */
function anvilPath() {
  const name = `@foundry-rs/anvil-${platform}-${arch === 'arm64' ? 'arm64' : 'amd64'}`;
  const root = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  return join(root, 'bin', 'anvil');
}
