/** The module of the demo shop, which is the start page of a server to try things out. */
import { createHmac } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { ensureTestSeed } from '../../core/addresses/test-seed.js';
import { settingsOf } from '../../core/config.js';
import { defineModule } from '../../core/module.js';
import type { Database } from '../../core/db/database.js';
import { ensureSetting, writeSetting } from '../../core/db/settings.js';
import { localHosts } from '../../core/shared/local-hosts.js';
import { StartError } from '../../core/shared/start-error.js';
import { demoSettings } from './settings.js';

/** The shop's files, which `npm run build` makes. */
const builtShop = fileURLToPath(new URL('../../../dist/demo', import.meta.url));

export const demoShop = defineModule({
  name: 'demo-shop',
  settings: demoSettings,
  create({ config, database, keys, sandboxReset, isSandboxOn, publicUrl, checkoutUrl, hooks }) {
    const { DEMO: isOn } = settingsOf(config, demoSettings);
    return {
      prepare() {
        if (isOn !== true || isSandboxOn) return;
        throw new StartError('DEMO', {
          cause: 'the demo shop needs the sandbox. Set SANDBOX=on, or DEMO=off',
        });
      },
      async pages({ merchantId }) {
        if (!(isOn ?? isSandboxOn) || merchantId === undefined) return undefined;
        const { demoShop: shop } = await import('./demo-shop.js');
        const testSeed = await ensureTestSeed(database);
        return {
          router: shop({
            publicKey: () => keys.publicKey(merchantId, 'test'),
            secretKey: keys.addEphemeral(merchantId, 'test'),
            orderKey: createHmac('sha256', testSeed).update('demo shop orders').digest(),
            nextNumber: () => nextOrderNumber(database),
            isLimited: config.limits !== undefined,
            // Elsewhere a stranger could delete what others try out.
            reset: localHosts.has(new URL(publicUrl).hostname)
              ? () => sandboxReset(merchantId, 'demo shop')
              : undefined,
            checkoutUrl,
            consoleUrl: hooks.consoleUrl(),
            directory: builtShop,
          }),
          links: { Shop: `${publicUrl}/`, Appearance: `${publicUrl}/demo/appearance.html` },
        };
      },
    };
  },
});

/** Counts the demo shop's orders, so that each has a number of its own: the payments of two with one number would be mixed up. */
function nextOrderNumber(database: Database): Promise<number> {
  return database.write(async (transaction) => {
    const number = Number(await ensureSetting(transaction, 'demo order', '4820')) + 1;
    await writeSetting(transaction, 'demo order', String(number));
    return number;
  });
}
