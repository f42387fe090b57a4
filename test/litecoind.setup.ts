/** Finds or installs Litecoin Core once for the whole run; tests start nodes of their own with `startLitecoin`. */
import type { TestProject } from 'vitest/node';
import { findLitecoind } from '../scripts/find-litecoind.mjs';
import { reportSkipped } from './missing.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The path of litecoind, or empty where none could be had: tests on it are then skipped. */
    litecoindPath: string;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  const found = await findLitecoind();
  project.provide('litecoindPath', 'path' in found ? found.path : '');
  if ('reason' in found) reportSkipped('The tests on Litecoin Core', found.reason);
}
