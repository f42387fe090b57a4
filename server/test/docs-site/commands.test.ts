/** Each command that the docs name exists, with the options that they give it; each example in JSON can be read. */
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { findCommand, groups } from '../../src/command-line/registry.js';
import { commonOptions, optionName } from '../../src/core/commands/command.js';

const root = resolve(import.meta.dirname, '../../..');
const names = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'));
const texts = await Promise.all(
  ['README.md', ...names.map((name) => `docs/${name}`)].map(
    async (name) => [name, await readFile(join(root, name), 'utf8')] as const,
  ),
);
const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^ *\`\`\`${language}\\n([^]*?)^ *\`\`\``, 'gm'))].map(
    ([, code = '']) => code,
  );

/** Words of a shell's line up to the first sign that ends a command. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [, word = '', end] of line.matchAll(
    /((?:\$\([^)]*\)|"[^"]*"|'[^']*'|[^\s"'|>#&)$]|\$)+)|([|>#&)])/g,
  )) {
    if (end !== undefined) break;
    words.push(word.replaceAll(/["']/g, ''));
  }
  return words;
}

const groupWords = new Set(groups.flatMap(({ name }) => name.split(' ')[0] ?? []));

/** The problem of a command, or undefined. */
function problemOf(words: readonly string[], isWhole: boolean): string | undefined {
  const found = findCommand(words);
  if (!found) return `there is no command ${words.join(' ')}`;
  const { command, rest } = found;
  const known = Object.keys({ ...command.options, ...commonOptions }).map(optionName);
  const unknown = rest.filter((word) => word.startsWith('--') && !known.includes(word.split('=')[0] ?? ''));
  if (unknown.length > 0) return `${found.name} has no option ${unknown.join(', ')}`;
  const lacking = Object.entries(command.options ?? {})
    .filter(([, option]) => option.isRequired)
    .map(([name]) => optionName(name))
    .filter((name) => !rest.includes(name));
  return isWhole && lacking.length > 0 ? `${found.name} needs ${lacking.join(', ')}` : undefined;
}

it.each(texts)('%s has only commands that exist, with their options', (_name, text) => {
  const lines = blocks(text, 'sh').flatMap((block) => block.replaceAll(/\\\n */g, ' ').split('\n'));
  const whole = lines.flatMap((line) => {
    const [, rest] = /(?:server\/dist\/cli\.js|\$cli|(?<![\w$(])cli|\(cli) (?!"\$@")(.+)/.exec(line) ?? [];
    return rest === undefined ? [] : [wordsOf(rest)];
  });
  const named = [...text.replaceAll(/^ *```[^]*?^ *```/gm, '').matchAll(/`([^`\n]+)`/g)]
    .map(([, code = '']) => code.replace(/^node server\/dist\/cli\.js /, ''))
    .filter((code) => /^[a-z][a-z-]* [a-z-]{3,}/.test(code) && groupWords.has(code.split(' ')[0] ?? ''))
    .map(wordsOf);
  const problems = [
    ...whole.map((words) => problemOf(words, true)),
    ...named.map((words) => problemOf(words, false)),
  ].filter((problem) => problem !== undefined);
  expect(problems).toEqual([]);
});

const json = texts.flatMap(([name, text]) => blocks(text, 'json').map((block) => [name, block] as const));

it.each(json)('%s has JSON that can be read', (_name, block) => {
  expect(() => JSON.parse(block) as unknown).not.toThrow();
});

it('The check of the docs finds commands and their problems', () => {
  const count = texts.reduce((sum, [, text]) => sum + (text.match(/cli\.js /g) ?? []).length, 0);
  expect(count).toBeGreaterThan(40);
  expect(problemOf(['keys', 'make'], true)).toBe('there is no command keys make');
  expect(problemOf(['keys', 'list', '--all'], true)).toBe('keys list has no option --all');
});
