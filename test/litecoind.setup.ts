/** Finds or installs Litecoin Core once for the whole run; tests start nodes of their own with `startLitecoin`. */
import { writeFile } from 'node:fs/promises';
import type { TestProject } from 'vitest/node';
import { findLitecoind } from '../scripts/find-litecoind.mjs';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The path of litecoind, or empty where none could be had: tests on it are then skipped. */
    litecoindPath: string;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  const found = await findLitecoind();
  project.provide('litecoindPath', 'path' in found ? found.path : '');
  if ('path' in found) return;
  if (process.env['CI'] === 'true') throw new Error(`No litecoind could be had: ${found.reason}`);
  const message = `The tests on Litecoin Core are skipped, because none could be had: ${found.reason}`;
  console.warn(`\n${message}\n`);
  if (process.env['TEST_MISSING']) await writeFile(process.env['TEST_MISSING'], message, { flag: 'a' });
}
