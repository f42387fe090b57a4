/** People of the shop, who use the console. */
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import * as z from 'zod/mini';
import { merchantIdOf, runCommand, type ServerEnv } from './deposit-keys.js';
import type { Stage } from './stage.js';

/** The pages of the settings. */
export const settingsPages = ['shop', 'limits', 'mail', 'team', 'account', 'networks', 'audit'];

const invitation = z.object({ signInUrl: z.string() });

/** Invites somebody to the shop's team. @returns the link to sign in with */
export async function invite(role: string, stage: Stage, env: ServerEnv): Promise<string> {
  const words = ['--merchant', await merchantIdOf(env), '--email', `${role}@shop.example`, '--role', role];
  const { signInUrl } = invitation.parse(await runCommand(env, 'users', 'invite', ...words));
  // The command does not know the port of the test's server. Without https, the console works only on localhost.
  const { port } = new URL(stage.server.url);
  return signInUrl.replace(/^http:\/\/[^/]+/, `http://localhost:${port}`);
}

/** Opens the console in a browser of its own, signed in. */
export async function signInAs(
  role: string,
  stage: Stage,
  env: ServerEnv,
  expectedErrors = /40[0134]/,
  context?: BrowserContext,
): Promise<Page> {
  const page = await stage.page({ expectedErrors, ...(context && { context }) });
  await page.goto(await invite(role, stage, env));
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  return page;
}

/** Opens a page of the console, and waits until it has read what it shows. */
export async function go(page: Page, path: string): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/console/test/${path}`);
  await page.locator('main h1').waitFor();
  await page.waitForFunction(() => !document.querySelector('main .wait'));
}

/** Presses what needs a fresh sign-in, when the last one is too old: it is asked for first, and then the form opens at its first field. */
export async function signInFirst(page: Page, press: () => Promise<void>, first: Locator): Promise<void> {
  const question = page.getByRole('heading', { name: 'Sign in again for this' });
  // Later than a sign-in counts as fresh.
  await page.clock.setFixedTime(Date.now() + 600_000);
  await press();
  await question.waitFor();
  expect(await first.count()).toBe(0);
  // Nobody has signed in meanwhile; and then somebody has, in another tab.
  await page.getByRole('button', { name: 'Continue' }).click();
  await question.waitFor();
  expect(await first.count()).toBe(0);
  await page.clock.setFixedTime(Date.now());
  await page.getByRole('button', { name: 'Continue' }).click();
  await first.waitFor();
  await expect.poll(() => first.evaluate((one) => one === document.activeElement)).toBe(true);
}
