/**
 * Prepares `examples/`: installs its packages, and in each example the packed `crypto-checkout` of the last build. Import it,
 * or run it to work on an example.
 */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import { isInstalled } from './installed.mjs';
import { execute, reasonOf, unpack } from './system.mjs';

export const examples = resolve(import.meta.dirname, '../examples');
const packed = resolve(import.meta.dirname, '../server/dist/crypto-checkout.tgz');

/**
 * @returns {Promise<string | undefined>} the reason why the packages could not be installed
 */
export async function prepareExamples() {
  if (!existsSync(packed)) throw new Error('The package is not built. Run: npm run build');
  if (!(await isInstalled(examples))) {
    const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
    try {
      await execute('npm', args, { cwd: examples, timeoutSeconds: 300 });
    } catch (error) {
      return `examples/: npm ci failed: ${reasonOf(error)}`;
    }
  }
  for (const name of await readdir(examples)) {
    const directory = join(examples, name);
    if (existsSync(join(directory, 'package.json')))
      await unpack(packed, join(directory, 'node_modules/crypto-checkout'));
  }
  return undefined;
}

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href) {
  const problem = await prepareExamples();
  console.log(problem ?? 'The examples are ready: cd examples/NAME, then npx vite');
  process.exitCode = problem ? 1 : 0;
}
