/** The order of test files: the slowest first, so that no runner is left with one of them at the end. A clone has no times of earlier runs. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BaseSequencer } from 'vitest/node';

const root = resolve(import.meta.dirname, '..');

/** By the time that they took in the gate. Some are short files, which their size would put last. */
const slowest = [
  'server/test/psbt-payouts/life.long.test.ts',
  'server/test/chains/real-money-evm.long.test.ts',
  'server/test/tooling/without-modules.long.test.ts',
  'test/e2e/packages.long.test.ts',
  'test/e2e/frameworks.long.test.ts',
  'server/test/chains/real-money-litecoin.long.test.ts',
  'server/test/field/psbt-payouts.long.test.ts',
  'server/test/main.long.test.ts',
  'server/test/db/list-checkpoints.long.test.ts',
  'test/e2e/console.long.test.ts',
  'test/e2e/console-payouts.long.test.ts',
  'test/field/foreign-pages.e2e.long.test.ts',
  'test/e2e/real-chains.long.test.ts',
  'test/e2e/arrival-order-chromium.long.test.ts',
].map((path) => join(root, path));

const missing = slowest.filter((path) => !existsSync(path));
if (missing.length > 0)
  throw new Error(`scripts/slowest-first.mjs names ${missing.join(', ')}, which is gone`);

/** All others follow in the usual order, by size. */
export default class extends BaseSequencer {
  /** @override @param {import('vitest/node').TestSpecification[]} files */
  async sort(files) {
    const rank = (/** @type {{ moduleId: string }} */ { moduleId }) => {
      const index = slowest.indexOf(moduleId);
      return index < 0 ? slowest.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
