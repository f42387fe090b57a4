/** People of the shop, who use the console. */
import type { BrowserContext, Page } from 'playwright-core';
import * as z from 'zod/mini';
import { merchantIdOf, runCommand, type ServerEnv } from './deposit-keys.js';
import type { Stage } from './stage.js';

/** The pages of the settings. */
export const settingsPages = ['shop', 'limits', 'mail', 'team', 'account', 'networks', 'audit'];

const invitation = z.object({ signInUrl: z.string() });

/** Opens the console in a browser of its own, signed in. */
export async function signInAs(
  role: string,
  stage: Stage,
  env: ServerEnv,
  expectedErrors = /40[0134]/,
  context?: BrowserContext,
): Promise<Page> {
  const words = ['--merchant', await merchantIdOf(env), '--email', `${role}@shop.example`, '--role', role];
  const { signInUrl } = invitation.parse(await runCommand(env, 'users', 'invite', ...words));
  const page = await stage.page({ expectedErrors, ...(context && { context }) });
  // The command does not know the port of the test's server. Without https, the console works only on localhost.
  const { port } = new URL(stage.server.url);
  await page.goto(signInUrl.replace(/^http:\/\/[^/]+/, `http://localhost:${port}`));
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  return page;
}
