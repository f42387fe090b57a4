/** The lint of words: each kind of text that it reads, and the texts that it leaves out. */
import { expect, it } from 'vitest';
import { findingsOf } from '../../scripts/lint-words.mjs';

const wordsIn = (file: string, source: string) =>
  findingsOf(file, source).map(({ line, words }) => `${line} ${words}`);

it.each([
  ['a comment', 'src/a.ts', '\n/** What it costs. */\nconst a = 1;', ['2 What']],
  ['a comment of lines', 'src/a.ts', '// It starts by\n// itself.\nconst a = 1;', ['1 by itself']],
  ['a comment after the code', 'src/a.ts', 'const a = 1; // The former price.', ['1 former']],
  [
    'a comment of a property',
    'src/a.ts',
    'type A = {\n  /** Whether it is open. */\n  a: 1;\n};',
    ['2 Whether'],
  ],
  ['the middle of a comment', 'src/a.ts', '// It ends. What is late is lost.\n', ['1 What is late is lost.']],
  ['a test name', 'test/a.test.ts', "it.each([1])('what was sent', () => {});", ["1 'what"]],
  ['a test name about a case', 'test/a.test.ts', "it('where it ends', () => {});", ["1 'where"]],
  ['a parameter', 'src/a.ts', '/** @param a whether it is open */\nconst a = 1;', ['1 whether']],
  ['a result', 'src/a.ts', '/**\n * @returns\n * what it costs\n */\nconst a = 1;', ['3 what']],
  ['a description', 'src/a.ts', "const a = described(text, 'What it costs.');", ["1 'What"]],
  ['a summary', 'src/a.ts', "const a = { summary: 'How it ends.' };", ["1 'How"]],
  ['a part of a test name', 'test/a.test.ts', "describe('a key', () => it('that is new', f));", ["1 'that"]],
  [
    'a clause about a thing',
    'src/a.ts',
    '// Late: what is paid then is lost. A tenth of what is due.\n',
    ['1 of what', '1 what is paid then is'],
  ],
  ['a preposition at the start', 'src/a.ts', '/** With which it opens. */\nconst a = 1;', ['1 With which']],
  ['a message', 'src/a.ts', "throw new Error('Whoever has it can pay');", ['1 Whoever']],
  ['a template', 'src/a.ts', 'const a = `The ${one} lies there`;', ['1 lies']],
  ['text in JSX', 'examples/a.tsx', 'const a = <p>It is told now</p>;', ['1 told']],
  ['a guide', 'docs/a.md', '# A\n\nIt goes\non alone.\n', ['3 goes on', '4 alone']],
  ['a style sheet', 'demo/a.css', 'a {\n  /* It stands there. */\n}', ['2 stands']],
  ['a settings file', 'compose.yaml', 'a: 1\n# Beside it.\n', ['2 Beside']],
  ['a page', 'index.html', '<!-- Made anew. -->\n<p></p>', ['1 anew']],
  ['a fragment', 'src/a.ts', '/** Of a refund. */\nconst a = 1;', ['1 Of a']],
  ['a test name in capitals', 'test/a.test.ts', "it('Refuses a key', () => {});", ["1 'Refuses"]],
  ['a test name with a verb', 'test/a.test.ts', "it('uses a key', () => {});", ["1 'uses"]],
  ['a text for payers', 'src/messages/en/a.json', '{\n  "a": "",\n  "b": "Made anew"\n}', ['3 anew']],
])('The lint finds words in %s', (_name, file, source, expected) => {
  expect(wordsIn(file, source).toSorted()).toEqual(expected.toSorted());
});

it.each([
  ['code', 'src/a.ts', 'const former = beside(whoever);'],
  ['code in a comment', 'src/a.ts', '// The column `former` is empty.\n'],
  ['code in a guide', 'docs/a.md', '`former` is empty.\n\n```ts\n// What it is.\n```\n'],
  ['code in a template', 'src/a.ts', 'const a = `The ${former(beside)} price`;'],
  ['a query', 'src/a.ts', 'run(`select case when a then 1 else 0 end from b`);'],
  ['a part of a query', 'src/a.ts', "const a = sql`case b.c when 'd' then 'e' else 'f g' end`;"],
  ['the end of a query', 'src/a.ts', "const a = `${b} else 'f g' end`;"],
  ['a message in another language', 'src/messages/fr/fr.ts', "const a = 'le kin former';"],
  ['a question', 'src/a.ts', "const a = { description: 'Who can approve refunds?' };"],
  ['words that only contain one', 'src/a.ts', '// A standalone performer understands lieutenants.\n'],
  ['a good use of a word', 'docs/a.md', 'It stands for a coin. Tell them apart. No more than two.\n'],
  [
    'a text that the specification prescribes',
    'src/a.ts',
    "a('You may close this page; the shop is told.');",
  ],
])('The lint finds nothing in %s', (_name, file, source) => {
  expect(wordsIn(file, source)).toEqual([]);
});
