/** The entry of the server: checks the version of Node.js before it loads anything that an older one cannot. */
import { isNodeTooOld } from './node-version.js';

async function main(): Promise<void> {
  const { run } = await import('./bundle.js');
  await run('server', () => import('./run-server.js'));
}

// Without a top-level await, which the oldest versions with modules cannot parse.
if (!isNodeTooOld()) void main();
