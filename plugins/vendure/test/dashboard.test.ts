/** The extension of Vendure's dashboard: its block, and that a shop's build finds it in the package. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { CryptoPayments, type ShownPayment } from '../dashboard/crypto-payments.js';

const execute = promisify(execFile);
const root = resolve(import.meta.dirname, '..');

const page = 'https://pay.example.com/console/live/payments/01J9';
const shown = (...payments: readonly Partial<ShownPayment>[]) =>
  renderToStaticMarkup(
    createElement(CryptoPayments, {
      payments: payments.map((payment, index) => ({
        paymentId: `${index}`,
        payment: 'Paid.',
        refunds: '',
        console: page,
        ...payment,
      })),
    }),
  );

test('the block shows each payment and its refunds in words, with a link to the console', () => {
  const html = shown({ refunds: '1 USDT wait.' }, { payment: 'Cancelled: <nothing> came.' });
  expect(html).toContain('<p>Paid.</p><p>Refunds: 1 USDT wait.</p>');
  expect(html).toContain(`href="${page}" target="_blank" rel="noreferrer">Open it in the console</a>`);
  expect(html).toContain('<p>Cancelled: &lt;nothing&gt; came.</p><a');
});

test('the block makes no link from a javascript: URL or an empty one', () => {
  expect(shown({ console: 'javascript:alert(1)' })).not.toContain('href');
  expect(shown({ console: '' })).toContain('<p>Paid.</p></div>');
});

test('the package has the extension where the compiled plug-in says, with all that it imports', async () => {
  const compiled = join(root, 'dist/plugin.js');
  const [, path = ''] = /\bdashboard: '([^']+)'/.exec(await readFile(compiled, 'utf8')) ?? [];
  const entry = resolve(dirname(compiled), path);
  const source = await readFile(entry, 'utf8');
  const imported = [...source.matchAll(/from '(\.[^']+)\.js'/g)].map(([, name = '']) =>
    resolve(dirname(entry), `${name}.tsx`),
  );
  const { stdout } = await execute('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root });
  const [packed] = z
    .tuple([z.object({ files: z.array(z.object({ path: z.string() })) })])
    .parse(JSON.parse(stdout));
  const files = packed.files.map((file) => file.path);
  expect(imported).toHaveLength(1);
  expect(files).toEqual(expect.arrayContaining([entry, ...imported].map((file) => relative(root, file))));
  // A shop without the dashboard never loads it: its packages are not the shop's.
  expect(await readFile(compiled, 'utf8')).not.toMatch(/require\("[^"]*(dashboard|react)/);
});

// A package cannot import from another's folder, and staff of two shop systems should not read two different sentences.
test.each(['words.ts', 'answer.ts'])('%s is the same in both plug-ins', async (name) => {
  const [ours, theirs] = await Promise.all(
    ['vendure', 'medusa'].map((plugin) => readFile(join(root, '..', plugin, 'src', name), 'utf8')),
  );
  expect(ours).toBe(theirs);
});
