/**
 * Puts the widget's package into the server's while that one is packed, as its `prepack`; removes it with `--remove`,
 * as its `postpack`. The name is not reserved in a registry: a stranger's package of that name would be installed with
 * the server.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { argv } from 'node:process';
import { unpack } from './system.mjs';

const packed = resolve(import.meta.dirname, '../server/dist/crypto-checkout.tgz');
/** In a clone, Node finds the package through the workspace instead. */
const bundled = resolve(import.meta.dirname, '../server/node_modules/crypto-checkout');

if (argv.includes('--remove')) await rm(bundled, { recursive: true, force: true });
else {
  if (!existsSync(packed)) throw new Error('The package is not built. Run: npm run build');
  await unpack(packed, bundled);
}
