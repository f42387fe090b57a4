/** The stylesheets of the server's pages use the colours that they share, and override none that nothing uses. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (name: string) => readFileSync(new URL(`../../data/${name}.css`, import.meta.url), 'utf8');
const found = (text: string, pattern: RegExp) => new Set([...text.matchAll(pattern)].map(([, name]) => name));
const declaredIn = (text: string) => found(text, /^\s*(--[\w-]+):/gm);
const usedIn = (text: string) => found(text, /var\((--[\w-]+)/g);
const shared = declaredIn(read('tokens'));

it.each(['docs', 'pages', 'links'])('%s.css declares each property that it uses, and no other', (name) => {
  const text = read(name);
  const [declared, used] = [declaredIn(text), usedIn(text)];
  expect([...used].filter((one) => !declared.has(one) && !shared.has(one))).toEqual([]);
  // As a receipt's colours on paper, which are not those of a dark screen.
  expect([...declared].filter((one) => !used.has(one))).toEqual([]);
});

it.each(['docs', 'pages', 'links'])('%s.css repeats nothing about sizes that tokens.css says', (name) => {
  expect(read('tokens')).toContain('box-sizing: border-box;');
  expect(read(name)).not.toContain('box-sizing');
});
