/**
 * Puts the widget's package into the server's while that one is packed, as its `prepack`; removes it with `--remove`,
 * as its `postpack`. The name is not reserved in a registry: a stranger's package of that name would be installed with
 * the server.
 */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { argv } from 'node:process';
import { execute } from './system.mjs';

const packed = resolve(import.meta.dirname, '../server/dist/crypto-checkout.tgz');
/** In a clone, Node finds the package through the workspace instead. */
const bundled = resolve(import.meta.dirname, '../server/node_modules/crypto-checkout');

await rm(bundled, { recursive: true, force: true });
if (!argv.includes('--remove')) {
  if (!existsSync(packed)) throw new Error('The package is not built. Run: npm run build');
  await mkdir(bundled, { recursive: true });
  await execute('tar', ['-xzf', packed, '-C', bundled, '--strip-components=1'], { timeoutSeconds: 60 });
}
