/**
 * The scripts that a browser loads until the pay button, and until the QR code: the size budgets count the same ones, and the
 * hosted page asks for them at once.
 */
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import budgets from '../../.size-limit.mjs';
import { checkoutOn } from './checkout.js';
import { openShop, tagOf } from './shop-page.js';
import { useStage } from './stage.js';

const stage = useStage();

/** A page asks for the entry without its version. */
const nameOf = (path: string) => basename(path).replace(/^crypto-checkout-[\d.]+\.js$/, 'crypto-checkout.js');

/** The files that the budget counts. */
function countedBy(budget: string): string[] {
  const { path = [] } = budgets.find(({ name }) => name.startsWith(budget)) ?? {};
  return [path].flat().map(nameOf).sort();
}

test('The budgets for the first paint and for the QR code count each script that a browser loads until then', async () => {
  const page = await stage.page();
  await openShop(stage, page, tagOf(stage, 'sizes'));
  const checkout = checkoutOn(page);
  await checkout.part('offer').locator('svg').first().waitFor();
  await checkout.act();
  await checkout.choose('Tether', 'Tron');
  await checkout.part('qr').waitFor();
  const { paintedAt, scripts } = await page.evaluate(() => {
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    const loads = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'));
    return {
      paintedAt: paint?.startTime ?? 0,
      scripts: loads.map(({ name, startTime, duration }) => ({
        name,
        startTime,
        endTime: startTime + duration,
      })),
    };
  });
  const names = (some: typeof scripts) => [...new Set(some.map(({ name }) => nameOf(name)))].sort();
  // The offer is asked for after the frame with the card: on a busy machine, the screen shows it later.
  const first = scripts.filter(({ name, startTime }) => startTime < paintedAt && !name.includes('offer-'));
  expect(names(first)).toEqual(countedBy('first paint'));
  const codeAt = scripts.find(({ name }) => name.includes('qr-code-'))?.endTime ?? 0;
  expect(names(scripts.filter(({ startTime }) => startTime < codeAt))).toEqual(
    countedBy('up to the QR code'),
  );
});

// One that is only asked for when another one has run costs a slow phone half a second.
test('The hosted page preloads each script that leads to the QR code, and no other', async () => {
  const page = await stage.page();
  const { url } = await stage.createLocked('USDT', 'tron');
  await page.goto(url);
  await checkoutOn(page).part('qr').waitFor();
  const { loaded, preloaded } = await page.evaluate(() => ({
    loaded: performance
      .getEntriesByType('resource')
      .flatMap(({ name }) => (name.endsWith('.js') ? [name] : [])),
    preloaded: [...document.querySelectorAll<HTMLLinkElement>('link[rel=modulepreload]')].map(
      ({ href }) => href,
    ),
  }));
  const paths = (some: readonly string[]) => [...new Set(some.map(nameOf))].sort();
  const needed = paths(loaded).filter((name) => !name.includes('after-qr-'));
  expect(paths(preloaded)).toEqual(needed.filter((name) => name !== 'crypto-checkout.js'));
});
