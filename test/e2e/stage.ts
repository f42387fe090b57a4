/** The basis of every end-to-end test: the built server, a real browser, and pages that may not complain. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createMerchantClient, type CreatePaymentBody, type MerchantClient } from 'crypto-checkout/client';
import type { Payment } from 'crypto-checkout/contract';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';
import { startApiServer, type ApiServer } from '../../scripts/api-server.mjs';

const require = createRequire(import.meta.url);
const screens = fileURLToPath(new URL('../../.tmp/screens/', import.meta.url));
/** `SCREENS=1` saves a screenshot of every state that a test inspects. */
const keepsScreens = process.env['SCREENS'] === '1';

export interface PageOptions {
  /** The context in which the page is opened; a new one, with empty storage, if absent. */
  readonly context?: BrowserContext;
  /** Errors that the test causes. */
  readonly expectedErrors?: RegExp;
}

export interface Stage {
  readonly server: ApiServer;
  readonly browser: Browser;
  readonly merchant: MerchantClient;
  context(): Promise<BrowserContext>;
  page(options?: PageOptions): Promise<Page>;
  /** Creates a payment as the merchant's server would. */
  create(body?: Partial<CreatePaymentBody>): Promise<{ payment: Payment; url: string }>;
  /** Creates a payment and takes it to its address. */
  createLocked(currency: string, network: string): Promise<{ payment: Payment; url: string }>;
  verify(id: string): Promise<Payment>;
  /** Sends simulated funds to a payment's address, by default in its own currency. */
  send(payment: Payment, amount: string | number, currency?: string): Promise<void>;
  sandbox(path: string, body: unknown): Promise<void>;
}

let references = 0;

interface StageOptions {
  readonly blockIntervalMs?: number;
  /** For features that a headless shell lacks: suspended pages, and the back-forward cache. */
  readonly needsWholeBrowser?: boolean;
  /** Options of the browser's JavaScript engine. */
  readonly jsFlags?: string;
  /** Called before the server is started, for further options. */
  readonly start?: () => Promise<Parameters<typeof startApiServer>[0]>;
}

/** The run's browser, or a separate one if it has to be different. */
function openBrowser(needsWholeBrowser: boolean, jsFlags: string | undefined): Promise<Browser> {
  if (!needsWholeBrowser && jsFlags === undefined) return chromium.connect(inject('browserEndpoint'));
  const { whole, shell } = inject('browserPrograms');
  const { executablePath, args } = needsWholeBrowser ? whole : shell;
  return chromium.launch({ executablePath, args: [...args, ...(jsFlags ? [`--js-flags=${jsFlags}`] : [])] });
}

/**
 * One server for the tests of a file, and a browser. Pages are closed after each test, and must have logged no errors.
 */
export function useStage({
  blockIntervalMs = 1000,
  needsWholeBrowser = false,
  jsFlags,
  start,
}: StageOptions = {}): Stage {
  let running: { server: ApiServer; browser: Browser; merchant: MerchantClient } | undefined;
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  const get = () => {
    if (!running) throw new Error('The stage is set in beforeAll');
    return running;
  };

  beforeAll(async () => {
    const [server, browser] = await Promise.all([
      startApiServer({ blockIntervalMs, ...(await start?.()) }),
      openBrowser(needsWholeBrowser, jsFlags),
    ]);
    const merchant = createMerchantClient({ apiUrl: server.url, secretKey: server.secretKey });
    running = { server, browser, merchant };
  });

  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
    expect(complaints.splice(0), 'errors in the console').toEqual([]);
  });

  afterAll(async () => {
    await running?.browser.close();
    await running?.server.stop();
  });

  const stage: Stage = {
    get server() {
      return get().server;
    },
    get browser() {
      return get().browser;
    },
    get merchant() {
      return get().merchant;
    },

    async context() {
      const context = await get().browser.newContext({
        viewport: { width: 1280, height: 900 },
        // A fixed scale, so that a QR code's modules are whole pixels, and screenshots are small.
        deviceScaleFactor: 1,
        // Without a GPU, each frame of an animation is drawn by the processor.
        reducedMotion: 'reduce',
        locale: 'en-GB',
      });
      context.setDefaultTimeout(30_000);
      contexts.push(context);
      return context;
    },

    async page({ context, expectedErrors } = {}) {
      const page = await (context ?? (await stage.context())).newPage();
      const complain = (text: string) => {
        if (!expectedErrors?.test(text)) complaints.push(text);
      };
      page.on('pageerror', (error) => complain(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') complain(message.text());
      });
      // Chromium logs violations too, but a listener names the directive.
      await page.addInitScript(() => {
        addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) =>
          console.error(`CSP: ${effectiveDirective} refused ${blockedURI} ${sample}`),
        );
      });
      return page;
    },

    async create(body) {
      references += 1;
      const { data } = await get().merchant.payments.create({
        body: { amount: '20', baseCurrency: 'USD', txRef: `e2e-${process.pid}-${references}`, ...body },
      });
      return data;
    },

    async createLocked(currency, network) {
      const { payment, url } = await stage.create();
      const { payments } = get().merchant;
      await payments.setCurrency({ params: { payment_id: payment.id, currency, network } });
      const { data } = await payments.lockCurrency({ params: { payment_id: payment.id } });
      return { payment: data, url };
    },

    async verify(id) {
      return (await get().merchant.transactions.verify({ params: { transaction_id: id } })).data;
    },

    async send({ currencyNetwork, currency, addressInformation }, amount, coin = currency ?? '') {
      const address = addressInformation?.address;
      await stage.sandbox('transfers', { network: currencyNetwork, currency: coin, address, amount });
    },

    async sandbox(path, body) {
      const { server } = get();
      const response = await fetch(`${server.url}/sandbox/${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${server.secretKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`/sandbox/${path}: ${await response.text()}`);
    },
  };
  return stage;
}

/**
 * A stage on whose database commands run too, without settings of networks unless `prepare` returns them.
 * @param prepare returns more of the server's environment; called before the server is started
 */
export function useStageWithCommands({
  blockIntervalMs,
  prepare,
}: Pick<StageOptions, 'blockIntervalMs'> & {
  readonly prepare?: (directory: string) => Promise<Readonly<Record<string, string>>>;
} = {}) {
  let directory: string;
  let more: Readonly<Record<string, string>> | undefined;
  const pathOf = (name: string) => join(directory, name);
  /** The environment of the server and the commands. */
  const env = () => ({ DATABASE_URL: `sqlite:${pathOf('data.sqlite')}`, NETWORKS_FILE: '', ...more });
  const stage = useStage({
    ...(blockIntervalMs !== undefined && { blockIntervalMs }),
    async start() {
      directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-stage-'));
      more = await prepare?.(directory);
      return { env: env() };
    },
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  return { stage, env, pathOf };
}

/** Writes a file of networks for `useStageWithCommands`. @returns the server's setting of it */
export async function writeNetworks(directory: string, networks: object): Promise<{ NETWORKS_FILE: string }> {
  const file = join(directory, 'networks.json');
  await writeFile(file, JSON.stringify({ networks }));
  return { NETWORKS_FILE: file };
}

type ColorScheme = 'light' | 'dark';

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** In dark mode only colours differ: what fits in light mode fits in it too. Pictures are taken in both. */
export const schemesThatFit: readonly ColorScheme[] = keepsScreens ? ['light', 'dark'] : ['light'];

/** Nothing of a state is beyond the edge: wide and narrow, and zoomed. 640 px is a window of 1280 px at 200 %. */
export async function expectToFit(
  page: Page,
  name: string,
  colorScheme: ColorScheme = 'light',
  widths: readonly number[] = [320, 640, 1280],
): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow, `${name}: pixels beyond the edge at ${width} px`).toBeLessThanOrEqual(0);
    if (keepsScreens && width !== 640) {
      await mkdir(screens, { recursive: true });
      await page.screenshot({ path: join(screens, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
}

/**
 * Inspects a state in all presentations: wide and narrow, zoomed, light and dark, and with axe.
 * @param schemes light only, where the same state is inspected in dark mode with other texts
 */
export async function inspect(
  page: Page,
  name: string,
  schemes: readonly ColorScheme[] = ['light', 'dark'],
): Promise<void> {
  for (const colorScheme of schemes) {
    await expectToFit(page, name, colorScheme, schemesThatFit.includes(colorScheme) ? undefined : [1280]);
    // Running all rules takes a second of processor time.
    const rules = colorScheme === 'dark' ? colorRules : undefined;
    expect(await violationsOn(page, rules), `${name}, ${colorScheme}`).toEqual([]);
  }
}

/** The lists of filters and forms whose choice does not fit, on a narrow screen and on a wide one. */
export async function cutFilters(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    const names = await page.locator('.filters select, dialog select').evaluateAll((controls) =>
      controls.flatMap((control) => {
        if (!(control instanceof HTMLElement)) return [];
        const has = control.offsetWidth;
        control.style.inlineSize = 'max-content';
        const wants = control.offsetWidth;
        control.style.inlineSize = '';
        return wants > has ? [`${control.getAttribute('name')} needs ${wants} of ${has} px`] : [];
      }),
    );
    found.push(...names);
  }
  return found;
}

/** Makes `axe` known to the page, once. A policy for scripts does not apply to it. */
export async function loadAxe(page: Page): Promise<void> {
  if (await page.evaluate(() => 'axe' in globalThis)) return;
  await page.evaluate(await readFile(require.resolve('axe-core/axe.min.js'), 'utf8'));
}

/** The axe rules about colours. */
const colorRules = ['color-contrast', 'link-in-text-block'];

/** @param rules all by default */
async function violationsOn(page: Page, rules?: readonly string[]): Promise<string[]> {
  await loadAxe(page);
  const violations = await page.evaluate(async (only) => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(options: { resultTypes: readonly string[]; runOnly?: readonly string[] }): Promise<{
          violations: Violation[];
        }>;
      };
    };
    // Describing all passes takes longer than finding violations.
    return (await axe.run({ resultTypes: ['violations'], ...(only && { runOnly: only }) })).violations;
  }, rules);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Reads QR codes with another library than the one that drew them. */
export async function qrReader(stage: Stage): Promise<(picture: Buffer) => Promise<string | undefined>> {
  const page = await stage.page();
  await page.addScriptTag({ content: await readFile(require.resolve('jsqr'), 'utf8') });
  return (picture) =>
    page.evaluate(async (base64) => {
      const { jsQR } = globalThis as unknown as {
        jsQR: (
          data: Uint8ClampedArray,
          width: number,
          height: number,
          options: { inversionAttempts: 'dontInvert' },
        ) => { data: string } | null;
      };
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const { width, height, ...image } = await decode(bytes);
      // Many scanners read only dark codes on light ground.
      return jsQR(image.data, width, height, { inversionAttempts: 'dontInvert' })?.data;

      async function decode(png: Uint8Array<ArrayBuffer>) {
        const bitmap = await createImageBitmap(new Blob([png], { type: 'image/png' }));
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
        if (!canvas) throw new Error('There is no canvas');
        canvas.drawImage(bitmap, 0, 0);
        return canvas.getImageData(0, 0, bitmap.width, bitmap.height);
      }
    }, picture.toString('base64'));
}
