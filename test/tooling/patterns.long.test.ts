/** No pattern takes long for any text, and none repeats a class before `$` where it has to look from each place. */
import { join, resolve } from 'node:path';
import { ESLint, RuleTester } from 'eslint';
import { describe, expect, it } from 'vitest';
import rules from '../../scripts/lint-patterns.mjs';
import { hostileTexts, readPatterns, type SourcePattern } from './patterns.js';

const root = resolve(import.meta.dirname, '../..');
const folders = ['src', 'server/src', 'console', 'claim', 'demo'];
/** The longest body that the server reads. */
const longest = 100 * 1024;
/** A slow pattern takes the square of the length, which is seconds. */
const mostCpuMs = 200;
/** A slow pattern takes longer for an eighth of it: to show that one is slow, no more is needed. */
const slowCpuMs = 60;

/** Patterns for texts that are ours, file by file: no request and no other server's reply reaches them. */
const ownTexts: Readonly<Record<string, string>> = {
  'server/src/modules/docs-site/frame.ts': 'the guides of this repository, once at the start',
  'server/src/modules/docs-site/guides.ts': 'the guides of this repository, once at the start',
};

/** Patterns that are put together at run time are not timed, so each is known. */
const madeAtRunTime = [
  // The name of a network.
  'server/src/modules/networks/check-nodes.ts: new RegExp(`^${subject}`)',
  // E-mail addresses with their special characters escaped, plain and as part of a URL.
  "server/src/modules/erasure/erasure.ts: new RegExp(forms.map(escapePattern).join('|'), 'giu')",
  // The path of the console's live changes, and nothing that is repeated.
  'server/src/modules/console/http/change-stream.ts: new RegExp(`^${changesPath}/(test|live)$`)',
];

const { patterns, madeAtRunTime: found } = readPatterns(root, folders);
const outside = patterns.filter(({ file }) => !(file in ownTexts));

/** Processor time of applying a pattern to a text as the sources do: the least of three tries if it is a little too much. */
function costOf({ source, flags, isSplitter }: SourcePattern, text: string, mostMs: number): number {
  const pattern = new RegExp(source, flags);
  let least = Infinity;
  for (let tries = 0; tries < 3 && least > mostMs; tries += 1) {
    const before = process.cpuUsage();
    if (isSplitter) text.split(pattern);
    else if (flags.includes('g')) text.replace(pattern, '');
    else pattern.test(text);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
    if (least > 5 * mostMs) break;
  }
  return least;
}

/** The first text that takes too long. Short ones come first: they show the same sooner. */
function findSlow(pattern: SourcePattern, mostMs: number): string | undefined {
  for (const length of [longest / 8, longest]) {
    for (const text of hostileTexts(pattern, length)) {
      const ms = costOf(pattern, text, mostMs);
      if (ms > mostMs)
        return `${ms.toFixed(0)} ms for ${JSON.stringify(text.slice(0, 20))}… (${text.length})`;
    }
  }
  return undefined;
}

const pattern = (source: string, flags = ''): SourcePattern => ({
  place: 'here',
  file: 'here',
  source,
  flags,
  isSplitter: false,
});

describe('Every pattern', () => {
  it('Every pattern is found', () => {
    expect(outside.length).toBeGreaterThan(200);
    expect([...found].sort()).toEqual([...madeAtRunTime].sort());
  });

  it.each(outside.map((one) => [`/${one.source}/${one.flags} in ${one.place}`, one] as const))(
    '%s takes at most 200 ms of processor for 100 kB of its own characters',
    (_name, one) => {
      expect(findSlow(one, mostCpuMs)).toBeUndefined();
    },
  );

  it.each([
    [String.raw`0+$`, ''],
    [String.raw`\B(?=(\d{3})+$)`, 'g'],
    [String.raw`\S*:\/\/\S*`, 'g'],
    [String.raw`\b([a-z][a-z0-9+.-]*:\/\/)[^\s/"@\\]+@`, 'gi'],
    [String.raw`[^\s"'<>()=\\]+@[\w-]+(?:\.[\w-]+)+`, 'g'],
  ])('The texts of the timing show that /%s/%s is slow', (source, flags) => {
    expect(findSlow(pattern(source, flags), slowCpuMs)).toBeDefined();
  });

  it('Each file with an exception has a slow pattern', () => {
    for (const file of Object.keys(ownTexts)) {
      const isSlow = patterns.some((one) => one.file === file && findSlow(one, slowCpuMs) !== undefined);
      expect([file, isSlow]).toEqual([file, true]);
    }
  });
});

describe('The lint rule', () => {
  const tester = new RuleTester();
  const errors = [{ messageId: 'unanchored' }];

  it('The lint rule refuses a repetition before $, at any place, unless the pattern begins with ^', () => {
    tester.run('anchored', rules.rules.anchored, {
      valid: [
        String.raw`/^\d+$/`,
        String.raw`/^(a|b+)$/`,
        String.raw`/(?:^a+|^b+)$/`,
        String.raw`/0+/`,
        String.raw`/0+x$/`,
        String.raw`/\r?\n$/`,
        String.raw`/:\d{1,9}$/`,
        String.raw`/a+|b$/`,
        String.raw`/0+$/y`,
        String.raw`new RegExp('^0+$')`,
        String.raw`text.trimEnd()`,
      ],
      invalid: [
        String.raw`/0+$/`,
        String.raw`/\s+$/`,
        String.raw`/[.,]+$/`,
        String.raw`/x*$/`,
        String.raw`/x{2,}$/`,
        String.raw`/:\d+$/`,
        String.raw`/0+?$/`,
        String.raw`/(0+)$/`,
        String.raw`/(?:0|1)+$/`,
        String.raw`/(0+|x)$/`,
        String.raw`/0+,?$/`,
        String.raw`/0+(?:x|$)/`,
        String.raw`/\B(?=(\d{3})+$)/g`,
        String.raw`/^a$|0+$/`,
        String.raw`/^0+$/m`,
        String.raw`/(^a)?0+$/`,
        String.raw`new RegExp('0+$')`,
        String.raw`RegExp('^0+$', 'm')`,
      ].map((code) => ({ code, errors })),
    });
    expect(tester).toBeDefined();
  });

  it('The lint rule stops a file of the sources that breaks it', async () => {
    const eslint = new ESLint({ cwd: root });
    const [result] = await eslint.lintText('export const trim = (text) => text.replace(/0+$/, "");\n', {
      filePath: join(root, 'demo/merchant-server/trim.mjs'),
    });
    expect(result?.messages.map(({ ruleId }) => ruleId)).toEqual(['patterns/anchored']);
  });

  it.each(folders)('The lint rule is on in %s', async (folder) => {
    const config = (await new ESLint({ cwd: root }).calculateConfigForFile(join(root, folder, 'a.ts'))) as {
      rules: Record<string, unknown>;
    };
    expect(config.rules['patterns/anchored']).toEqual([2]);
  });
});
