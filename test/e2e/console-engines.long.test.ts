/** The console's pages in each engine: nothing fails, nothing is cut, and the page's own work is done in it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import * as z from 'zod/mini';
import { startAnvil, type Anvil } from '../../server/test/support/anvil.js';
import type { Tab } from '../support/webdriver.js';
import { merchantIdOf, runCommand } from './deposit-keys.js';
import { engines } from './engines.js';
import { misfits } from './fitting.js';
import { signInAs } from './staff.js';
import { useStageWithCommands, writeNetworks } from './stage.js';

let anvil: Anvil;
const { stage, env } = useStageWithCommands({
  async prepare(directory) {
    anvil = await startAnvil();
    return writeNetworks(directory, { 'evm-dev': { nodes: [anvil.url] } });
  },
});
afterAll(() => anvil.stop());

let paymentId: string;
beforeAll(async () => {
  await anvil.mine(3);
  const data = await stage.createLocked('USDT', 'tron');
  await stage.send(data.payment, data.payment.amount ?? 0);
  await stage.sandbox('blocks', { network: 'tron', count: 30 });
  await vi.waitFor(async () => expect((await stage.verify(data.payment.id)).state).toBe('settled'), 20_000);
  paymentId = data.payment.id;
}, 60_000);

const screens = fileURLToPath(new URL('../../.tmp/screens/', import.meta.url));
const patient = { timeout: 15_000 };
const invitation = z.object({ signInUrl: z.string() });

/** Keeps what a page complains of in `window.complaints`. */
const listen = (tab: Tab) =>
  tab.run(() => {
    const complaints: string[] = [];
    Reflect.set(window, 'complaints', complaints);
    addEventListener('error', ({ message }) => complaints.push(message));
    addEventListener('unhandledrejection', ({ reason }) => complaints.push(String(reason)));
    addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
      complaints.push(`${effectiveDirective} refused ${blockedURI}`),
    );
    console.error = (...args: unknown[]) => complaints.push(args.join(' '));
  });

const complaintsOf = (tab: Tab) => tab.run(() => (Reflect.get(window, 'complaints') as string[]).splice(0));

/** A person of the shop, in one document from the first script to the last page, so that no complaint is lost. */
async function signIn(tab: Tab, email: string): Promise<void> {
  const words = ['--merchant', await merchantIdOf(env()), '--email', email, '--role', 'owner'];
  const { signInUrl } = invitation.parse(await runCommand(env(), 'users', 'invite', ...words));
  await tab.open(`http://localhost:${new URL(stage.server.url).port}/console`);
  await says(tab, 'Sign in');
  await listen(tab);
  await tab.run((hash) => {
    location.hash = hash;
  }, new URL(signInUrl).hash);
  await says(tab, 'Paid in full');
}

async function says(tab: Tab, text: string): Promise<void> {
  const read = () =>
    tab.run(() => (document.querySelector<HTMLElement>('dialog[open]') ?? document.body).innerText);
  await expect.poll(read, { ...patient, message: `the page says ${text}` }).toContain(text);
}

async function go(tab: Tab, path: string, heading: string): Promise<void> {
  await tab.run((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, `/console/test/${path}`);
  const read = () =>
    tab.run(() => (document.querySelector('main .wait') ? '' : document.querySelector('h1')?.innerText));
  await expect.poll(read, { ...patient, message: path }).toContain(heading);
}

/** Presses the first enabled control with the text, of the dialog if there is one. */
async function press(tab: Tab, text: string): Promise<void> {
  const find = () =>
    tab.run((wanted) => {
      const place = document.querySelector('dialog[open]') ?? document;
      const all = [...place.querySelectorAll<HTMLElement>('button:not(:disabled), a[href]')];
      const found = all.find((one) => one.innerText.trim().startsWith(wanted) && one.checkVisibility());
      found?.click();
      return found !== undefined;
    }, text);
  await expect.poll(find, { ...patient, message: `a press on ${text}` }).toBe(true);
}

/** Fills in fields by their names, as by hand. */
async function fill(tab: Tab, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    const find = () =>
      tab.run(
        (of, given) => {
          const place = document.querySelector('dialog[open]') ?? document.querySelector('main');
          const found = place?.querySelector<HTMLInputElement>(`[name="${of}"]`);
          if (!found) return undefined;
          found.value = given;
          found.dispatchEvent(new Event('input', { bubbles: true }));
          found.dispatchEvent(new Event('change', { bubbles: true }));
          return found.value;
        },
        name,
        value,
      );
    await expect.poll(find, { ...patient, message: `the field ${name}` }).toBe(value);
  }
}

interface Visit {
  readonly path: string;
  readonly heading: string;
  act?(tab: Tab, engine: string): Promise<void>;
}

const visits = (customerId: string, email: string): readonly Visit[] => [
  {
    path: 'home',
    heading: 'Home',
    async act(tab) {
      await press(tab, 'Name the pages that payers may return to');
      await says(tab, 'May send payers to');
    },
  },
  {
    path: 'links',
    heading: 'Payment links',
    async act(tab, engine) {
      await press(tab, 'New payment link…');
      await fill(tab, { title: `Lamp in ${engine}`, amount: '12' });
      await press(tab, 'Save');
      await says(tab, 'Print the QR code');
      expect(await tab.run(() => document.querySelector('.poster svg') !== null)).toBe(true);
    },
  },
  {
    path: 'links',
    heading: 'Payment links',
    async act(tab, engine) {
      await press(tab, 'New payment link…');
      await fill(tab, { title: `Invoice in ${engine}`, lines: 'Lamp; 2; 6', dueAt: '2999-12-30' });
      await press(tab, 'Save');
      await says(tab, 'Not paid yet');
      await says(tab, '2 × Lamp');
    },
  },
  {
    path: `payment/${paymentId}`,
    heading: 'Payment ',
    async act(tab) {
      await press(tab, 'Receipt…');
      await says(tab, 'paid with 20.00');
      await press(tab, 'Close');
    },
  },
  {
    path: 'limits',
    heading: 'Fee and limits',
    async act(tab, engine) {
      const sum = String(10 + engine.length);
      await press(tab, 'Without approval…');
      await fill(tab, { currency: 'USD', amount: sum });
      await press(tab, 'Continue');
      await press(tab, 'Set the limit');
      await says(tab, `$${sum}.00`);
    },
  },
  {
    path: 'books?days=year',
    heading: 'Books',
    async act(tab) {
      await says(tab, 'At the beginning');
      await press(tab, 'Save as a file…');
      // Those of a bank leave out some bookings, and the notice says that instead.
      await fill(tab, { profile: '' });
      await press(tab, 'Save');
      await says(tab, 'Saved: ');
    },
  },
  { path: 'exports', heading: 'Transfers to sign', act: (tab) => press(tab, 'To the transfers') },
  {
    path: 'checks',
    heading: 'Compare with the chain',
    async act(tab) {
      await press(tab, 'Compare now');
      await says(tab, 'no difference.');
    },
  },
  {
    path: 'banks',
    heading: 'Bank payouts',
    async act(tab, engine) {
      await press(tab, 'New bank account…');
      await fill(tab, { accountName: 'Ada', accountNumber: 'DE89370400440532013000', accountBank: engine });
      await fill(tab, { country: 'DE', currency: 'EUR' });
      await press(tab, 'Save');
      await says(tab, engine);
      await press(tab, 'New bank payout…');
      await fill(tab, { amount: '1', reference: `Rent by ${engine}` });
      await press(tab, 'Next');
      await press(tab, 'Take ');
      await says(tab, `Rent by ${engine}`);
    },
  },
  {
    path: 'team',
    heading: 'Team',
    async act(tab) {
      await press(tab, 'End…');
      await press(tab, 'End the session');
      await says(tab, 'Ended');
    },
  },
  {
    path: 'mail',
    heading: 'E-mail to payers',
    async act(tab, engine) {
      await fill(tab, { replyTo: `${engine.toLowerCase()}@shop.example` });
      await press(tab, 'Save the choice');
      await says(tab, 'Saved');
    },
  },
  {
    path: `customer/${customerId}`,
    heading: email,
    async act(tab) {
      await press(tab, 'Erase…');
      await fill(tab, { email });
      await press(tab, 'Erase for good');
      await says(tab, 'The customer is erased');
      await press(tab, 'Close');
    },
  },
];

for (const engine of engines)
  describe(`in ${engine.name}`, () => {
    test.skipIf(engine.isMissing)(
      'each page opens, fits, does its work, and complains of nothing',
      async () => {
        const { name } = engine;
        // Somebody whose session is ended.
        await signInAs('manager', stage, env());
        const email = `payer-of-${name.toLowerCase()}@example.com`;
        const { data: customer } = await stage.merchant.customers.create({ body: { email } });
        const tab = await engine.open(stage, /40[0134]/);
        const found: string[] = [];
        try {
          await signIn(tab, `${name.toLowerCase()}@shop.example`);
          for (const { path, heading, act } of visits(customer.id, email)) {
            await go(tab, path, heading);
            for (const one of await tab.run(misfits)) found.push(`${path}: ${one}`);
            if (process.env['SCREENS'] === '1') {
              await mkdir(screens, { recursive: true });
              const picture = join(screens, `engines-${path.replace(/\W.*/, '')}-${name}.png`);
              await writeFile(picture, await tab.picture());
            }
            await act?.(tab, name);
            for (const one of await complaintsOf(tab)) found.push(`${path}: ${one}`);
          }
          await tab.open(`http://localhost:${new URL(stage.server.url).port}/console/counter?mode=test`);
          await listen(tab);
          for (const digit of ['1', '2']) await press(tab, digit);
          await press(tab, 'Charge 12 ');
          const status = () =>
            tab.run(() => document.querySelector('crypto-checkout')?.getAttribute('status'));
          await expect.poll(status, patient).toMatch(/^(ready|idle|choosing-currency)$/);
          for (const one of await complaintsOf(tab)) found.push(`counter: ${one}`);
        } finally {
          await tab.close();
        }
        expect(found).toEqual([]);
      },
    );
  });
