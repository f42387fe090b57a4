/** Finds or installs WebKitGTK once for the whole run; tests start one of their own with `startWebkit`. */
import type { TestProject } from 'vitest/node';
import { findWebkit, type WebkitPrograms } from '../scripts/find-webkit.mjs';
import { reportSkipped } from './missing.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Undefined where none could be had: tests in WebKit are then skipped. */
    webkitPrograms: WebkitPrograms | undefined;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  const found = await findWebkit();
  project.provide('webkitPrograms', 'reason' in found ? undefined : found);
  if ('reason' in found) reportSkipped('The tests in WebKit', found.reason);
}
