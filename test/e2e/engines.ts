/** The three engines that every promise of the widget is tried in. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, inject } from 'vitest';
import type { Tab } from '../support/webdriver.js';
import { holdChunks, type HeldChunks } from './held-chunks.js';
import { openChromium, openFirefox, openWebkit, payerIn, type Payer } from './payer.js';
import type { Stage } from './stage.js';

export interface Engine {
  readonly name: 'Chromium' | 'Firefox' | 'WebKit';
  /** True if this machine does not have it: its tests are skipped, and the run's last lines say so. */
  readonly isMissing: boolean;
  /** @param expectedErrors that the test causes: Chromium reports all others at the test's end */
  open(stage: Stage, expectedErrors?: RegExp): Promise<Tab>;
}

export const engines: readonly Engine[] = [
  { name: 'Chromium', isMissing: false, open: openChromium },
  { name: 'Firefox', isMissing: inject('firefoxPath') === undefined, open: () => openFirefox() },
  { name: 'WebKit', isMissing: inject('webkitPrograms') === undefined, open: () => openWebkit() },
];

/** A shop's page in one engine, with the widget's chunks behind a proxy. */
export interface EnginePage {
  readonly tab: Tab;
  readonly payer: Payer;
  readonly chunks: HeldChunks;
  /** Opens a page with these elements. @param held chunks that do not arrive */
  show(body: string, ...held: readonly string[]): Promise<void>;
  /** The tag of a payment that is at its address. */
  tagOfLocked(more?: string, network?: string): Promise<string>;
  /** The page's uncaught errors. */
  uncaught(): Promise<string[]>;
}

/**
 * Describes tests in each engine. The tests of a missing engine are skipped.
 * @param define defines the tests. The page is another one in each of them
 */
export function inEachEngine(
  stage: Stage,
  define: (page: EnginePage, engine: Engine) => void,
  { expectedErrors }: { readonly expectedErrors?: RegExp } = {},
): void {
  for (const engine of engines)
    describe(`in ${engine.name}`, () => {
      let tab: Tab | undefined;
      let chunks: HeldChunks | undefined;
      const opened = (): Tab => {
        if (!tab) throw new Error('The page is opened before each test');
        return tab;
      };
      const proxy = (): HeldChunks => {
        if (!chunks) throw new Error('The proxy is started before all tests');
        return chunks;
      };
      const page: EnginePage = {
        get tab() {
          return opened();
        },
        get payer() {
          return payerIn(opened());
        },
        get chunks() {
          return proxy();
        },
        async show(body, ...held) {
          proxy().show(body, ...held);
          await opened().open(proxy().pageUrl);
        },
        async tagOfLocked(more = '', network = 'tron') {
          const { payment } = await stage.createLocked('USDT', network);
          return `<crypto-checkout public-key="${stage.server.publicKey}" payment-id="${payment.id}" ${more}></crypto-checkout>`;
        },
        uncaught: () => opened().run(() => Reflect.get(window, 'uncaught') as string[]),
      };
      beforeAll(async () => {
        chunks = await holdChunks(stage.server.url);
      });
      beforeEach(async ({ skip }) => {
        if (engine.isMissing) skip();
        tab = await engine.open(stage, expectedErrors);
      });
      afterEach(async () => {
        await tab?.close();
        tab = undefined;
      });
      afterAll(() => chunks?.stop());
      define(page, engine);
    });
}
