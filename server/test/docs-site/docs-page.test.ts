/**
 * The parameters that `/docs` describes are those of the server, and its pages are whole: every guide, and links that
 * work.
 */
import { api, sandbox, type Endpoint } from 'crypto-checkout/contract';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { inputSchema, parametersOf } from '../../src/core/reference/parameters.js';
import { describeVariables } from '../../src/core/config.js';
import { product, settings } from '../../src/modules.js';
import { docsPages } from '../../src/modules/docs-site/docs.js';
import { docsFrame } from '../../src/modules/docs-site/frame.js';

const endpoints = [api, sandbox]
  .flatMap((table) => Object.values<Endpoint | Readonly<Record<string, Endpoint>>>(table))
  .flatMap((entry): Endpoint[] => ('method' in entry ? [entry as Endpoint] : Object.values(entry)));

/** Values of the element's `status`. */
const paymentStates = [
  'idle',
  'creating',
  'choosing-currency',
  'choosing-network',
  'quoted',
  'locking',
  'awaiting-funds',
  'partially-paid',
  'confirming',
  'success',
  'error',
  'expired',
  'cancelled',
];

it.each([
  ['/sandbox/blocks', 'count', 'integer'],
  ['/sandbox/reorgs', 'depth', 'integer'],
  ['/sandbox/reorgs', 'keep', 'boolean'],
  ['/sandbox/clock', 'advanceSeconds', 'integer'],
  ['/sandbox/transfers', 'amount', 'number'],
  ['/v1/transactions', 'page', 'integer'],
])('%s takes %s as %s', (path, name, type) => {
  const endpoint = endpoints.find((one) => one.path === path);
  const parameter = endpoint && parametersOf(endpoint).find((one) => one.name === name);
  expect(parameter?.type).toBe(type);
});

it('no parameter that takes a number is called text', () => {
  const wrong = endpoints.flatMap((endpoint) =>
    parametersOf(endpoint)
      .filter(({ name, place, type }) => {
        const schema = place === 'body' ? endpoint.body : endpoint.query;
        const field = schema && inputSchema(schema).properties?.[name];
        return type === 'text' && /"type":"(number|integer)"/.test(JSON.stringify(field ?? {}));
      })
      .map(({ name }) => `${endpoint.path} ${name}`),
  );
  expect(wrong).toEqual([]);
});

describe('the pages', () => {
  const pages = docsPages('https://shop.example/pay', { version: '1.0.0', directory: '/nowhere' }, product);
  const rendered = new Map(pages.map((page) => [page.path, docsFrame(page, pages).text]));
  const entities: Readonly<Record<string, string>> = {
    lt: '<',
    gt: '>',
    quot: '"',
    '#39': "'",
    '#x27': "'",
    amp: '&',
  };
  const textOf = (markup: string) =>
    markup
      .replace(/<[^>]+>/g, '')
      .replace(/&(lt|gt|quot|#39|#x27|amp);/g, (whole, name: string) => entities[name] ?? whole);
  const idsOf = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);

  it('The docs have a page for each guide, and begin with the start and the API', async () => {
    const files = (await readdir(new URL('../../../docs/', import.meta.url)))
      .filter((name) => name.endsWith('.md') && name !== 'README.md')
      .map((name) => `docs/${name.replace('.md', '')}`);
    const guides = pages.filter(({ group }) => group !== 'API').map(({ path }) => path);
    expect(guides.toSorted()).toEqual(['docs', ...files].toSorted());
    expect(pages.slice(0, 3).map(({ title }) => title)).toEqual(['Start', 'All endpoints', 'Payments']);
  });

  it.each(pages.map(({ path }) => path))('%s has links that lead to a page and a place there', (path) => {
    const text = rendered.get(path) ?? '';
    expect(new Set(idsOf(text)).size, 'ids are unique').toBe(idsOf(text).length);
    const broken = [...text.matchAll(/ href="(?!https?:|data:|mailto:)([^"]+)"/g)].filter(([, href = '']) => {
      // Below the path of a proxy.
      const { pathname, hash } = new URL(href, `https://any.example/pay/${path}`);
      const name = pathname.replace(/^\/pay\//, '');
      const target = rendered.get(name);
      if (target === undefined) return !['docs.css', 'openapi.json'].includes(name);
      return hash !== '' && !idsOf(target).includes(hash.slice(1));
    });
    expect(broken.map(([, href]) => href)).toEqual([]);
  });

  it('The guides name this server, and not the one of the examples', () => {
    expect(rendered.get('docs')).toContain('https://shop.example/pay/crypto-checkout.js');
    const guides = pages.filter(({ group }) => group !== 'API').map(({ path }) => path);
    const others = [...rendered].filter(([, text]) => text.includes('https://pay.example.com'));
    expect(others.map(([path]) => path).filter((path) => guides.includes(path))).toEqual([]);
  });

  it.each([
    ['restore', 'docs/backup', 'after-a-restore'],
    ['erasure', 'docs/retention', 'erase-a-customer'],
    ['console', 'docs/retention', 'erase-somebody-of-the-team'],
    ['reconciliation', 'docs/monitoring', 'the-books-against-the-chain'],
  ])('The docs leave out the section of %s on a server without that module', (module, path, id) => {
    const modules = product.modules.filter((name) => name !== module);
    const others = docsPages(
      'https://shop.example',
      { version: '1.0.0', directory: '/nowhere' },
      { ...product, modules },
    );
    const page = others.find((one) => one.path === path);
    expect(idsOf(rendered.get(path) ?? '')).toContain(id);
    expect(idsOf(page ? docsFrame(page, others).text : '')).not.toContain(id);
  });

  it('The docs list every endpoint on one page', () => {
    const text = textOf(rendered.get('docs/api') ?? '').replace(/\s+/g, ' ');
    for (const { method, path } of endpoints) expect(text).toContain(`${method} ${path.replace('{*', '{')}`);
  });

  it('The docs draw flowcharts with every step inside the picture, and describe them in words', () => {
    const drawn = [...rendered].filter(([, text]) => text.includes('<svg'));
    expect(drawn.map(([path]) => path)).toEqual(
      expect.arrayContaining(['docs/api-decisions', 'docs/moving-coins', 'docs/operations', 'docs/treasury']),
    );
    for (const [path, text] of drawn) {
      const [, width = 0, height = 0] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(text)?.map(Number) ?? [];
      for (const [, x, y, wide, high] of text.matchAll(
        /<rect\s+x="([\d.]+)"\s+y="([\d.]+)"\s+width="([\d.]+)"\s+height="([\d.]+)"/g,
      )) {
        expect(Number(x) + Number(wide), path).toBeLessThanOrEqual(width);
        expect(Number(y) + Number(high), path).toBeLessThanOrEqual(height);
      }
    }
    const life = rendered.get('docs/api-decisions') ?? '';
    expect(life).toContain('aria-label="created → currency set (payer chooses); ');
    expect(life).not.toContain('flowchart');
  });

  it('The docs colour code, and leave its text as it is', () => {
    const page = rendered.get('docs/create-a-payment') ?? '';
    expect(page).toContain('<span class="hljs-keyword">import</span>');
    expect(page).toContain('<span class="hljs-keyword">def</span>');
    const source = readFileSync(new URL('../../../docs/create-a-payment.md', import.meta.url), 'utf8');
    const written = [...source.matchAll(/^```(?:sh|js|python|php)\n([^]*?)^```/gm)].map(([, code]) => code);
    const shown = [...page.matchAll(/<pre><code>([^]*?)<\/code>/g)].map(([, code = '']) => textOf(code));
    expect(shown).toEqual(written);
  });

  it('Each check box in the docs has its own words as its label', () => {
    const page = rendered.get('docs/going-live') ?? '';
    const boxes = page.match(/<input type="checkbox"/g) ?? [];
    expect(boxes.length).toBeGreaterThan(5);
    expect(page.match(/<label><input type="checkbox"> \S/g)).toHaveLength(boxes.length);
  });

  it('The docs list all settings as the help does', () => {
    const page = rendered.get('docs/operations') ?? '';
    const [, listed = ''] = /<pre><code[^>]*>( {2}HOST=[^]*?)\n?<\/code>/.exec(page) ?? [];
    expect(textOf(listed)).toBe(describeVariables(settings));
  });

  it('The docs keep the hashes of the script on their own page, and ask for no unpublished package', () => {
    const start = rendered.get('docs') ?? '';
    expect(start).not.toContain('sha384-');
    const asking = [...rendered].filter(([, text]) => text.includes('npx crypto-checkout'));
    expect(asking.map(([path]) => path)).toEqual([]);
    expect(rendered.get('docs/script-hashes')).toContain('importmap');
  });

  it('The docs say how to verify amounts: those received, less refunds, must cover what was due', () => {
    const text = rendered.get('docs/client') ?? '';
    expect(text).toContain('less <code>refundedAmount</code>, is at least <code>amount</code>');
    expect(text).toContain('so is <code>amountReceived</code>');
    expect(text).toContain('it is also at least your <code>baseAmount</code>');
  });

  it('The docs name every state of the element', () => {
    const text = rendered.get('docs/widget') ?? '';
    for (const status of paymentStates) expect(text).toContain(`<code>${status}</code>`);
  });
});
