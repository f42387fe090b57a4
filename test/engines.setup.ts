/** Finds or installs Firefox and WebKitGTK once for the whole run; tests start browsers of their own. */
import type { TestProject } from 'vitest/node';
import { findFirefox } from '../scripts/find-firefox.mjs';
import { findWebkit, type WebkitPrograms } from '../scripts/find-webkit.mjs';
import { reportSkipped } from './missing.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The program. Undefined where none could be had: tests in Firefox are then skipped. */
    firefoxPath: string | undefined;
    /** The same for tests in WebKit. */
    webkitPrograms: WebkitPrograms | undefined;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  // One after the other: apt-get installs for one at a time.
  const firefox = await findFirefox();
  project.provide('firefoxPath', 'reason' in firefox ? undefined : firefox.executablePath);
  if ('reason' in firefox) reportSkipped('The tests in Firefox', firefox.reason);
  const webkit = await findWebkit();
  project.provide('webkitPrograms', 'reason' in webkit ? undefined : webkit);
  if ('reason' in webkit) reportSkipped('The tests in WebKit', webkit.reason);
}
