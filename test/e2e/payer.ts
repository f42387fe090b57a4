/** A payer in a browser of any engine: presses, picks and reads by the element's roles and parts, from inside the page. */
import { expect, inject } from 'vitest';
import { startFirefox } from '../../scripts/find-firefox.mjs';
import { startWebkit } from '../../scripts/find-webkit.mjs';
import { openSession, patienceMs, type Tab } from '../support/webdriver.js';
import type { Stage } from './stage.js';

export interface Payer {
  readonly tab: Tab;
  /** Resolves once the element is in the state. */
  reach(status: string): Promise<void>;
  press(part?: string): Promise<void>;
  pick(value: string): Promise<void>;
  text(part: string): Promise<string>;
  /** Resolves once the part is drawn and has text. */
  see(part: string): Promise<string>;
  /** From the pay button to the address of USDT on Tron. */
  choose(): Promise<void>;
}

/** WebKit, if there is one: `inject('webkitPrograms')`. A browser of its own, which ends with the page even if that hangs. */
export async function openWebkit(): Promise<Tab> {
  const programs = inject('webkitPrograms');
  if (!programs) throw new Error('There is no WebKit on this machine');
  const webkit = await startWebkit(programs);
  const tab = await openSession(webkit.url, webkit.capabilities);
  return { ...tab, close: webkit.stop };
}

/** Firefox takes seconds to start: one for all tests of a process, by its preferences. It ends with the process. */
const firefoxes = new Map<string, ReturnType<typeof startFirefox>>();

/**
 * Firefox, if there is one: `inject('firefoxPath')`. The page has a storage of its own.
 * @param preferences as in about:config
 */
export async function openFirefox(preferences: Parameters<typeof startFirefox>[1] = {}): Promise<Tab> {
  const path = inject('firefoxPath');
  if (path === undefined) throw new Error('There is no Firefox on this machine');
  const key = JSON.stringify(preferences);
  const starting = firefoxes.get(key) ?? startFirefox(path, preferences);
  firefoxes.set(key, starting);
  const firefox = await starting;
  const context = await firefox.createBrowserContext();
  const page = await context.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  return {
    async open(url) {
      await page.goto(url, { timeout: patienceMs });
    },
    run: (script, ...args) => runIn(page, script, args),
    type: (text) => typeWith(page.keyboard, text),
    async picture() {
      return Buffer.from(await page.screenshot());
    },
    async close() {
      try {
        await inTime(context.close());
      } catch {
        // Its page hangs: the next test gets another browser.
        firefoxes.delete(key);
        firefox.process()?.kill('SIGKILL');
      }
    },
  };
}

/** Chromium, in the same words. */
export async function openChromium(stage: Stage, expectedErrors?: RegExp): Promise<Tab> {
  const page = await stage.page({ ...(expectedErrors && { expectedErrors }) });
  return {
    async open(url) {
      await page.goto(url, { timeout: patienceMs });
    },
    run: (script, ...args) => runIn(page, script, args),
    type: (text) => typeWith(page.keyboard, text),
    picture: () => page.screenshot(),
    close: () => page.close(),
  };
}

/** As text, like over WebDriver: Playwright's own way takes one argument. */
function runIn<Arguments extends readonly unknown[], Result>(
  page: { evaluate(call: string): Promise<unknown> },
  script: (...args: Arguments) => Result,
  args: Arguments,
): Promise<Awaited<Result>> {
  const call = `(${script.toString()})(...${JSON.stringify(args)})`;
  return inTime(page.evaluate(call)) as Promise<Awaited<Result>>;
}

async function typeWith(
  keyboard: { press(key: 'Enter'): Promise<void>; type(text: string): Promise<void> },
  text: string,
) {
  for (const [index, line] of text.split('\n').entries()) {
    if (index > 0) await keyboard.press('Enter');
    await keyboard.type(line);
  }
}

/** Playwright waits forever for a page that hangs. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('The page does not answer: it hangs')), patienceMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

export function payerIn(tab: Tab): Payer {
  const text = (part: string) =>
    tab.run((name) => {
      const root = document.querySelector('crypto-checkout')?.shadowRoot;
      return root?.querySelector(`[part~="${name}"]`)?.textContent.trim() ?? '';
    }, part);
  const press = async (selector: string) => {
    const find = () =>
      tab.run((wanted) => {
        const root = document.querySelector('crypto-checkout')?.shadowRoot;
        const found = root?.querySelector<HTMLElement>(wanted);
        found?.click();
        return found != null;
      }, selector);
    await expect.poll(find, { message: `a press on ${selector}` }).toBe(true);
  };
  const payer: Payer = {
    tab,
    text,
    async reach(status) {
      const read = () => tab.run(() => document.querySelector('crypto-checkout')?.getAttribute('status'));
      await expect.poll(read, { message: `the element becomes ${status}` }).toBe(status);
    },
    press: (part = 'action') => press(`[part~="${part}"]`),
    pick: (value) => press(`input[type="radio"][value="${value}"]`),
    async see(part) {
      await expect.poll(() => text(part), { message: `the part ${part}` }).not.toBe('');
      return text(part);
    },
    async choose() {
      await payer.press();
      await payer.reach('choosing-currency');
      await payer.pick('USDT');
      await payer.reach('choosing-network');
      await payer.pick('tron');
      await payer.reach('awaiting-funds');
    },
  };
  return payer;
}
