/** Public reports of React's features that hide a component and run its effects again: a handler is called once for each event. */
import { join } from 'node:path';
import { build } from 'vite';
import { describe, expect, test } from 'vitest';
import { examples } from '../../scripts/examples.mjs';
import { checkoutOn } from '../e2e/checkout.js';
import { installExamples } from '../e2e/example-apps.js';
import { useStage } from '../e2e/stage.js';
import { reportSkipped } from '../missing.js';

const stage = useStage({ blockIntervalMs: 200 });
const missing = await installExamples();
if (missing !== undefined) reportSkipped('The tests of React', missing);

/** `hide('suspense')` and `hide('activity')` hide the checkout in the page, and `hide('')` shows it again. */
const pageOf = (props: Readonly<Record<string, string>>) => `
  import { Activity, createElement, StrictMode, Suspense, use, useState } from 'react';
  import { createRoot } from 'react-dom/client';
  import { CryptoCheckout } from 'crypto-checkout/react';

  window.calls = [];
  const never = new Promise(() => {});
  function Waiting({ isWaiting }) {
    if (isWaiting) use(never);
    return null;
  }
  const props = {
    ...${JSON.stringify(props)},
    onCheckoutReady: () => calls.push('ready'),
    onCheckoutLocked: () => calls.push('locked'),
  };
  function App() {
    const [how, hide] = useState('');
    window.hide = hide;
    const checkout = createElement(CryptoCheckout, props);
    const mode = how === 'activity' ? 'hidden' : 'visible';
    return createElement(
      Suspense,
      { fallback: 'Loading' },
      createElement(Activity, { mode }, checkout),
      createElement(Waiting, { isWaiting: how === 'suspense' }),
    );
  }
  createRoot(document.querySelector('main')).render(createElement(StrictMode, null, createElement(App)));`;

/** Bundles a script with the packages of an example. @returns the files by name; the script is `page.js` */
async function bundle(example: string, script: string): Promise<Map<string, string>> {
  const root = join(examples, example);
  const entry = join(root, 'page.js');
  const result = await build({
    root,
    configFile: false,
    logLevel: 'error',
    plugins: [
      {
        name: 'page',
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? script : undefined),
      },
    ],
    build: {
      write: false,
      minify: false,
      modulePreload: false,
      rolldownOptions: { input: entry, output: { entryFileNames: 'page.js', chunkFileNames: '[name].js' } },
    },
  });
  if (!('output' in result)) throw new Error('Vite has built something else');
  return new Map(
    result.output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file.code]] : [])),
  );
}

describe.skipIf(missing !== undefined)('in React 19', () => {
  test.each(['suspense', 'activity'])(
    'react/react#21079, reactjs/rfcs#213: %s that hides the checkout and shows it again calls no handler a second time',
    { timeout: 120_000 },
    async (how) => {
      const { payment } = await stage.createLocked('USDT', 'tron');
      const { url: apiUrl, publicKey } = stage.server;
      const files = await bundle('react-19', pageOf({ apiUrl, publicKey, paymentId: payment.id }));
      const page = await stage.page();
      await page.route(`${apiUrl}/a-shop/*`, (route) => {
        const body = files.get(new URL(route.request().url()).pathname.slice('/a-shop/'.length));
        return body === undefined
          ? route.fulfill({
              contentType: 'text/html',
              body: '<link rel="icon" href="data:,"><main></main><script type="module" src="page.js"></script>',
            })
          : route.fulfill({ contentType: 'text/javascript', body });
      });
      await page.goto(`${apiUrl}/a-shop/page.html`);
      await checkoutOn(page).reach('awaiting-funds');
      const calls = () => page.evaluate(() => Reflect.get(window, 'calls') as string[]);
      await expect.poll(calls).toEqual(['ready', 'locked']);
      const hide = (value: string) =>
        page.evaluate((wanted) => (Reflect.get(window, 'hide') as (how: string) => void)(wanted), value);
      const isShown = () => page.locator('crypto-checkout').isVisible();
      await hide(how);
      await expect.poll(isShown).toBe(false);
      await hide('');
      await expect.poll(isShown).toBe(true);
      expect(await calls()).toEqual(['ready', 'locked']);
      await page.close();
    },
  );
});
