/**
 * Packs the widget's npm package for the server, which offers it as `/crypto-checkout.tgz`: always the one that matches
 * its API, with or without a registry. Also writes the list of the release's packages (SBOM).
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { billOfMaterials } from './sbom.mjs';

const root = resolve(import.meta.dirname, '..');
const packed = join(root, 'server/dist/crypto-checkout.tgz');
const bill = join(root, 'server/dist/sbom.cdx.json');

await removeStale('src', 'dist');
await removeStale('server/src', 'server/dist');
const directory = await mkdtemp(join(root, 'server/dist/pack-'));
try {
  const args = ['pack', '--silent', '--ignore-scripts', '--workspace', '.', '--pack-destination', directory];
  await promisify(execFile)('npm', args, { cwd: root });
  const [name = ''] = await readdir(directory);
  await rename(join(directory, name), packed);
} finally {
  await rm(directory, { recursive: true, force: true });
}
await writeBill();
for (const file of [packed, bill]) {
  console.log(`${relative(root, file)}: ${((await stat(file)).size / 1000).toFixed(0)} kB`);
}

/** Writes the list of the release's packages. */
async function writeBill() {
  const [release, lock] = await Promise.all(
    ['server/package.json', 'package-lock.json'].map(async (name) =>
      JSON.parse(await readFile(join(root, name), 'utf8')),
    ),
  );
  await writeFile(bill, `${JSON.stringify(billOfMaterials(release, lock), null, 1)}\n`);
}

/**
 * Removes modules whose source is gone, since the compiler leaves them behind and the package would hold them.
 * @param {string} sources
 * @param {string} outputs
 */
async function removeStale(sources, outputs) {
  const names = (await readdir(join(root, sources), { recursive: true })).filter((name) =>
    name.endsWith('.ts'),
  );
  const modules = new Set(names.map((name) => name.replace(/\.ts$/, '')));
  for (const name of await readdir(join(root, outputs), { recursive: true })) {
    const [, module = ''] = /^(.+?)(?:\.d\.ts|\.js|\.js\.map)$/.exec(name) ?? [];
    const isOurs = module !== '' && !/^(script|demo|claim|console|bundle)[\\/]/.test(name);
    if (isOurs && !modules.has(module)) await rm(join(root, outputs, name));
  }
}
