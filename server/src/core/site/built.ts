/** The files of the widget that `npm run build` made: its script is in its own package, and that package in this one. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod/mini';

const packageUrl = import.meta.resolve('crypto-checkout/package.json');
const { version } = z.parse(
  z.object({ version: z.string() }),
  JSON.parse(readFileSync(new URL(packageUrl), 'utf8')),
);

export const built = {
  /** The widget's version, and the directory of its script. */
  version,
  directory: fileURLToPath(new URL('dist/script', packageUrl)),
  packageFile: fileURLToPath(new URL('../../../dist/crypto-checkout.tgz', import.meta.url)),
};
