/**
 * Runs a program as one file, which `scripts/programs.mjs` makes: finding and reading hundreds takes longer than most commands,
 * and longer than the rest of a start. It imports nothing of this program, so that nothing is loaded twice.
 */
import { statSync } from 'node:fs';

/** @param modules the same program as compiled, for a bundle that was not made, or is older */
export async function run(program: 'commands' | 'server', modules: () => Promise<unknown>): Promise<void> {
  const bundle = new URL(`bundle/${program}.js`, import.meta.url);
  await (isUpToDate(bundle) ? import(bundle.href) : modules());
}

/** False where it was not made, or the compiler has run since, which only happens in a clone. */
function isUpToDate(bundle: URL): boolean {
  const changedAt = (file: URL) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const madeAt = changedAt(bundle);
  const compilations = ['.tsbuildinfo', '../../dist/.tsbuildinfo'];
  return compilations.every((name) => changedAt(new URL(name, import.meta.url)) < madeAt);
}
