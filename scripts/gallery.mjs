/** `npm run gallery`: writes a picture of every state of the checkout, in every look, to `.tmp/gallery/`. */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { argv } from 'node:process';
import { chromium } from 'playwright-core';
import { startApiServer } from './api-server.mjs';
import { findBrowser } from './find-browser.mjs';

const help = `Writes pictures of every state of the checkout to .tmp/gallery/.

  npm run build && npm run gallery            all looks
  npm run gallery -- light dark               only these looks
  npm run gallery -- light --state awaiting   only states whose name contains this`;

/**
 * Name, the query string of the gallery's address, and the browser's emulation. @type {Record<string, { search: string,
 * width?: number, height?: number, media?: object }>}
 */
const looks = {
  light: { search: 'theme=light' },
  dark: { search: 'theme=dark' },
  320: { search: 'theme=light&width=320', width: 400 },
  // High enough that the order, which stays in view while the rest scrolls, is at the top.
  720: { search: 'theme=light&width=720', height: 1500 },
  '720-dark': { search: 'theme=dark&width=720', height: 1500 },
  pseudo: { search: 'theme=light&lang=ar-XB' },
  'pseudo-320': { search: 'theme=light&width=320&lang=ar-XB', width: 400 },
  arabic: { search: 'theme=light&width=720&lang=ar' },
  'arabic-320': { search: 'theme=light&width=320&lang=ar', width: 400 },
  'forced-colors': { search: 'theme=light', media: { forcedColors: 'active' } },
  'text-spacing': { search: 'theme=light&spacing=wide' },
  'broken-logo': { search: 'theme=light&logo=broken' },
  yellow: { search: 'theme=light&accent=yellow' },
  cream: { search: 'theme=light&accent=cream' },
};

const names = argv.slice(2).filter((name, index, all) => name in looks && all[index - 1] !== '--state');
const stateIndex = argv.indexOf('--state');
const wanted = stateIndex < 0 ? '' : (argv[stateIndex + 1] ?? '');
const folder = resolve(import.meta.dirname, '../.tmp/gallery');

async function main() {
  const { executablePath, args } = await findBrowser();
  const [server, browser] = await Promise.all([startApiServer(), chromium.launch({ executablePath, args })]);
  try {
    for (const name of names.length > 0 ? names : Object.keys(looks)) {
      const { search, width = 1360, height = 900, media } = looks[name] ?? { search: '' };
      const page = await browser.newPage({ viewport: { width, height } });
      await page.emulateMedia({ reducedMotion: 'reduce', ...media });
      await page.goto(`${server.url}/demo/gallery.html?${search}`);
      await page.locator('crypto-checkout[status="cancelled"] [part="payment-id"]').first().waitFor();
      await page.locator('crypto-checkout[status="awaiting-funds"] [part="qr"]').first().waitFor();
      await page.locator('[data-state="error, did not open"] [part="error"]').waitFor();
      await page.locator('[data-state="quoted, the lock failed"] [part="error"]').waitFor();
      await mkdir(join(folder, name), { recursive: true });
      for (const cell of await page.locator('.cell').all()) {
        const state = (await cell.getAttribute('data-state')) ?? '';
        if (!state.includes(wanted)) continue;
        const file = `${state.replace(/[^a-z]+/g, '-')}.png`;
        await cell.locator('crypto-checkout').screenshot({ path: join(folder, name, file) });
      }
      console.log(`${name}: ${join(folder, name)}`);
      await page.close();
    }
  } finally {
    await browser.close();
    await server.stop();
  }
}

if (argv.includes('--help')) console.log(help);
else await main();
