/** A passkey in a real browser, whose authenticator is a virtual one: added in the console, and then enough to sign in with. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { merchantIdOf, runCommand } from './deposit-keys.js';
import { useStageWithCommands } from './stage.js';

const { stage, env } = useStageWithCommands();

/** A device that always reads its owner's fingerprint, and stores passkeys. */
async function plugIn(page: Page, isUserVerified = true) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  });
  return {
    credentials: async () =>
      (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
    forgetFinger: () => devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false }),
  };
}

test('somebody adds a passkey, signs in with it, and not without the finger', async () => {
  const page = await stage.page({ expectedErrors: /40[0134]/ });
  const device = await plugIn(page);
  const words = ['--merchant', await merchantIdOf(env()), '--email', 'ada@shop.example', '--role', 'owner'];
  const { signInUrl } = (await runCommand(env(), 'users', 'invite', ...words)) as { signInUrl: string };
  const origin = `http://localhost:${new URL(stage.server.url).port}`;
  await page.goto(signInUrl.replace(/^http:\/\/[^/]+/, origin));
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();

  // Home offers one until there is one.
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('Passkey added').waitFor();
  await page
    .getByRole('heading', { name: 'Sign in without a link next time' })
    .waitFor({ state: 'detached' });
  await page.goto(`${origin}/console/test/account`);
  await page.getByRole('cell', { name: 'This device', exact: true }).waitFor();
  expect(await device.credentials()).toBe(1);

  // As if the sign-in were older than 10 minutes: the finger is asked for, and the action continues.
  let asked = 0;
  await page.route('**/console/api/team', (route) => {
    if (route.request().method() !== 'POST' || (asked += 1) > 1) return route.continue();
    const data = { code: 'step_up_required', requestId: '1' };
    return route.fulfill({ status: 403, json: { status: 'error', message: 'Sign in again', data } });
  });
  const [before] = await page.context().cookies();
  await page.getByRole('link', { name: 'Team' }).click();
  await page.getByRole('button', { name: 'Add a colleague' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('E-mail').fill('bob@shop.example');
  await dialog.getByRole('button', { name: 'Make the link' }).click();
  await dialog.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('heading', { name: 'Send this link to bob@shop.example' }).waitFor();
  expect(asked).toBe(2);
  expect((await page.context().cookies())[0]?.value).not.toBe(before?.value);

  const press = () => page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.context().clearCookies();
  await page.goto(`${origin}/console`);
  await press();
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
  expect(await page.evaluate(() => document.cookie)).toBe('');

  await page.context().clearCookies();
  await device.forgetFinger();
  await page.goto(`${origin}/console`);
  await press();
  await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
  expect(await page.context().cookies()).toEqual([]);
});
