/** `links …` on a real database, next to a running server; and what the audit log says of them. */
import type { Link } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfQuick } from '../support/engines.js';
import { press } from '../support/link-page.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfQuick)('Commands of payment links, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let own: string[];
  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
    own = ['--merchant', server.bootstrapped.merchantId];
  });
  afterAll(() => server.stop());

  it('A link is made, shown, listed, changed and turned off', async () => {
    const made = (await merchant.command(
      ...['links', 'create', ...own, '--title', 'Workshop ticket', '--amount', '45', '--currency', 'usd'],
      ...['--stock', '30', '--max-quantity', '4', '--ask', 'email', '--ask', 'note', '--required'],
      ...['--expires', '2999-12-31', '--redirect-url', 'https://shop.example/thanks'],
    )) as Link;
    expect(made).toMatchObject({
      amount: 45,
      baseCurrency: 'USD',
      stock: 30,
      maxQuantity: 4,
      mode: 'test',
      expiresAt: '2999-12-31T23:59:59.999Z',
      redirectUrl: 'https://shop.example/thanks',
      fields: [
        { name: 'email', isRequired: true },
        { name: 'note', isRequired: true },
      ],
    });
    const { stdout } = await merchant.run('links', 'list', ...own);
    expect(stdout).toContain(`${made.id}  test  on  45 USD  0 sold  ${made.url}  Workshop ticket`);
    await merchant.command('links', 'update', made.id, '--amount', '50', '--off');
    const shown = await merchant.run('links', 'show', made.id);
    expect(shown.stdout).toMatch(/^amount +50$/m);
    expect(shown.stdout).toMatch(/^isActive +false$/m);
    expect((await press(server, made.slug)).status).toBe(200);
    await merchant.command('links', 'update', made.id, '--on');
    const form = { field_email: 'ada@example.com', field_note: 'No fish' };
    expect((await press(server, made.slug, form)).status).toBe(303);

    const log = (await merchant.command('audit', 'list', ...own)) as { action: string; after: object }[];
    const about = log.filter(({ action }) => action.startsWith('link.'));
    expect(about.map(({ action, after }) => [action, after])).toEqual([
      ['link.created', expect.objectContaining({ price: '45 USD', isActive: true })],
      ['link.updated', { price: '50 USD', isActive: false }],
      ['link.updated', { isActive: true }],
    ]);
  });

  it('Mistakes are refused, each with its option or field', async () => {
    const create = ['links', 'create', ...own, '--title', 'Tip', '--currency', 'USD'];
    const errorOf = async (...words: string[]) => (await merchant.run(...words)).stderr;
    expect(await errorOf(...create, '--amount', '5', '--min-amount', '1')).toContain('minAmount');
    expect(await errorOf(...create, '--ask', 'shoe')).toContain('--ask must be email, name or note');
    expect(await errorOf(...create, '--currency', 'XXX')).toContain('XXX is not a currency');
    expect(await errorOf('links', 'show', 'nothing')).toContain('No such payment link');
    expect(await errorOf('links', 'update', 'nothing', '--on', '--off')).toContain('contradict');
  });
});
