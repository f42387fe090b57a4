/** Guarantees for the built files of the widget, in addition to their sizes, which `npm run size` checks. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Rolldown } from 'vite';
import { expect, it } from 'vitest';
import { toModule } from '../../scripts/qrcode-modules.mjs';

it('The widget’s first chunk begins with the hint to compile its functions while it loads, and no other chunk has it', async () => {
  const built = await build({ logLevel: 'error', build: { write: false } });
  const [{ output }] = built as [Rolldown.RolldownOutput];
  const chunks = output.filter((file) => file.type === 'chunk');
  const entry = chunks.find(({ isEntry }) => isEntry);
  const hint = '//# allFunctionsCalledOnLoad';
  // V8 reads it only at its beginning.
  const hinted = chunks.filter(({ code }) => code.startsWith(`${hint}\n`));
  expect(hinted.map(({ fileName }) => fileName)).toEqual(entry?.imports);
  expect(hinted).toHaveLength(1);
  expect(chunks.filter(({ code }) => code.includes(hint))).toEqual(hinted);
});

it('The QR code’s encoder read as modules draws the same codes as the package', async () => {
  interface Encoder {
    create(segments: unknown, options: unknown): { readonly modules: { readonly data: Uint8Array } };
  }
  const require = createRequire(import.meta.url);
  const path = require.resolve('qrcode/lib/core/qrcode.js');
  const folder = await mkdtemp(join(tmpdir(), 'crypto-checkout-qrcode-'));
  try {
    for (const file of await readdir(dirname(path)))
      await writeFile(join(folder, file), toModule(await readFile(join(dirname(path), file), 'utf8')));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const asModules = (await import(pathToFileURL(join(folder, 'qrcode.js')).href)) as Encoder;
    const asPackage = require(path) as Encoder;
    // From the smallest code to more than any address or page needs.
    for (let length = 1; length < 600; length += 13) {
      const segments = [{ data: 'bitcoin:1?aé'.repeat(length).slice(0, length), mode: 'byte' }];
      const [ours, theirs] = [asModules, asPackage].map((one) =>
        Buffer.from(one.create(segments, { errorCorrectionLevel: 'M' }).modules.data).toString('hex'),
      );
      expect(ours, `${length} letters`).toBe(theirs);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
