/** Finds a browser and starts its headless shell once for the whole run; end-to-end tests connect to it, each in contexts of its own. */
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { findBrowser, findHeadlessShell } from '../scripts/find-browser.mjs';

interface Program {
  readonly executablePath: string;
  readonly args: string[];
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The address of the running headless shell. */
    browserEndpoint: string;
    /** For tests that start their own browser: the whole one, and its headless shell. */
    browserPrograms: { readonly whole: Program; readonly shell: Program };
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const whole = await findBrowser();
  const shell = await findHeadlessShell();
  const server = await chromium.launchServer({ ...shell, host: '127.0.0.1' });
  project.provide('browserPrograms', { whole, shell });
  project.provide('browserEndpoint', server.wsEndpoint());
  return () => server.close();
}
