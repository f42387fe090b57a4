/** Finds a Firefox for the tests, or installs one. Run it directly to print what it finds. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process, { argv, env, exit } from 'node:process';
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';
import { aptInstall, reasonOf } from './system.mjs';

/**
 * The program, which is installed if it is missing and that is possible.
 * @returns {Promise<{ executablePath: string } | { reason: string }>} `reason`: why there is none
 */
export async function findFirefox() {
  const found = search();
  if (found) return { executablePath: found };
  try {
    await aptInstall(['firefox-esr']);
  } catch (error) {
    return { reason: `not installed: firefox-esr; ${reasonOf(error)}` };
  }
  const installed = search();
  return installed ? { executablePath: installed } : { reason: 'apt-get has installed no firefox-esr' };
}

function search() {
  const folders = (env.PATH ?? '').split(delimiter);
  const paths = ['firefox-esr', 'firefox'].flatMap((name) => folders.map((folder) => join(folder, name)));
  return [env.FIREFOX_PATH ?? '', ...paths].find((path) => path !== '' && existsSync(path));
}

/**
 * Starts it without a window and with a new profile, and drives it over WebDriver BiDi.
 * @param {string} executablePath
 * @param {Record<string, boolean | number | string>} [preferences] as in about:config
 */
export function startFirefox(executablePath, preferences = {}) {
  // Vitest kills a worker half a second after SIGTERM, and Firefox takes longer to close: it would stay. Puppeteer kills it when
  // the process exits.
  process.once('SIGTERM', () => exit(143));
  return puppeteer.launch({
    browser: 'firefox',
    executablePath,
    headless: true,
    handleSIGTERM: false,
    extraPrefsFirefox: {
      'intl.accept_languages': 'en-GB',
      // A page may not wait for add-ons and updates.
      'browser.safebrowsing.downloads.enabled': false,
      ...preferences,
    },
  });
}

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href) {
  const found = await findFirefox();
  process.stdout.write(`${'reason' in found ? `No Firefox: ${found.reason}` : found.executablePath}\n`);
}
