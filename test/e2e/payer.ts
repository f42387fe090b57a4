/** A payer in a browser of any engine: presses, picks and reads by the element's roles and parts, from inside the page. */
import { expect, inject } from 'vitest';
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

/** Chromium, in the same words. */
export async function openChromium(stage: Stage, expectedErrors?: RegExp): Promise<Tab> {
  const page = await stage.page({ ...(expectedErrors && { expectedErrors }) });
  return {
    async open(url) {
      await page.goto(url, { timeout: patienceMs });
    },
    run: <Arguments extends readonly unknown[], Result>(
      script: (...args: Arguments) => Result,
      ...args: Arguments
    ) => {
      // As text, like over WebDriver: Playwright's own way takes one argument.
      const call = `(${script.toString()})(...${JSON.stringify(args)})`;
      return inTime(page.evaluate<Awaited<Result>>(call));
    },
    close: () => page.close(),
  };
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
