/**
 * `npm run words`: refuses words and openings that a native engineer would not write, in comments, test names, messages and
 * Markdown. With a path, it lists only the findings there.
 */
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { textsOf } from './texts.mjs';

/** @typedef {import('./texts.mjs').Text['kind']} Kind */
/** @typedef {{ file: string, line: number, words: string, advice: string }} Finding */

/**
 * A pattern, the advice for its findings, and the kinds of text that it applies to, if not to all. A space matches a line
 * break too. Only patterns that begin with `^` are case-sensitive.
 *
 * @type {[pattern: string, advice: string, kinds?: Kind[]][]}
 */
const rules = [
  [
    '^[\'"`\\s]*(?:[Ww]hat|[Ww]ho|[Ww]hoever|[Ww]hom|[Ww]hose|How|Where|Which|Whether)\\b',
    'begin with the thing',
    ['comment', 'title'],
  ],
  ['^[\'"`\\s]*(?:how|where|which|whether)\\b', 'begin with the thing', ['title']],
  [
    '^[\'"`\\s]*(?:What|Who|Whom|Whose|How|Where|Which|Whether)\\b(?![^?]*[?])',
    'begin with the thing: “The amount paid”, or ask a question',
    ['description'],
  ],
  [
    '(?<=@(?:param (?:[{][^}]*[}] )?[^ ]+|returns?(?: [{][^}]*[}])?) )(?:what|who|whom|whose|how|where|which|whether)\\b',
    'begin with the thing: “true if …”, “the number of …”',
    ['comment'],
  ],
  [
    '^[\'"`\\s]*(?:[Tt]hat|[Aa]nd|[Bb]ut|[Oo]r|[Nn]or|[Ss]o|[Oo]f|[Bb]y|[Tt]o|[Ii]s|[Aa]re|[Hh]as|[Hh]ave|[Dd]oes|[Dd]o|[Cc]an|[Cc]annot|[Mm]ay|[Mm]ust|[Nn]ever|[Ss]ays?|[Kk]eeps?|[Rr]efuses?|[Rr]ejects?|[Tt]akes?|[Gg]ives?|[Gg]ets?|[Ll]eaves?|[Ss]tays?|[Ss]ends?|[Nn]eeds?|[Ss]hows?|[Ff]inds?|[Cc]ounts|[Ss]tops?|[Ff]ails?|[Ee]nds|[Ww]aits?|[Ww]orks|[Gg]oes|[Mm]akes?|[Ww]rites?|[Kk]nows?|[Rr]eturns|[Ii]gnores?|[Ff]ollows?|[Cc]reates?|[Aa]ccepts?|[Ee]xpires?|[Uu]ses|[Rr]aises)\\b',
    'name the subject, so that the name reads without its `describe`',
    ['title'],
  ],
  [
    '(?<=[a-z0-9)\'"`][.!] )(?:what|who|whose|which|whether) [^?|]*?[.:]',
    'begin the sentence with its subject',
    ['comment', 'prose'],
  ],
  [
    '(?:of|for|with|without|than|from|in) what',
    'name the thing: “of the amount due”, not “of what is due”',
    ['comment', 'title', 'prose'],
  ],
  [
    '(?<=[:;,] (?:and )?)what (?:is|was|has|had|goes|comes|pays) [^.:;,?|]{1,50}? (?:is|was|are|does|must|stays|becomes|would|has)\\b',
    'name the subject: “a repeated change is ignored”, not “what is repeated is ignored”',
    ['comment', 'title', 'prose'],
  ],
  [
    '^\\W*(?:With|By|Of|To|From|In|For|At|On|Without) (?:which|whom|whose)\\b',
    'begin with the thing',
    ['comment'],
  ],
  [
    '^\\W*Of (?:a|an|the|one|those|each)\\b',
    'name the subject: “the link of a refund”, not “of a refund”',
    ['comment'],
  ],
  ['former(?:ly)?', 'use “previous”, “earlier” or “old”'],
  ['by (?:itself|themselves|himself|yourself)', 'use “automatically” or “on its own”'],
  ['whoever|whomever|whosoever', 'use “anyone who”, or name the person'],
  ['beside', 'use “next to”, “with”, “in addition to” or “compared with”'],
  ['told(?! apart)', 'use “learns”, “is notified” or “gets”'],
  ['tells?(?! [\\w ]{0,30}\\bapart)(?! us)', 'use “shows”, “reports” or “notifies”'],
  [
    '(?:taken|takes?|took|taking) (?:[\\w’]+ ){0,3}back',
    'use “undone”, “reverted”, “released” or “withdrawn”',
  ],
  ['stands?(?! for| in for|-)|stood', 'use “is”, or a verb that says what it does'],
  ['(?:lies|lie|lay)(?! to\\b)', 'use “is”, or a verb that says what it does'],
  ['(?:is|are|was|were) to (?:be|run|go|have|get|do|pay|show|send|keep|take|come)', 'use “should” or “must”'],
  ['(?:is|are|was|were|be|been) said', 'name who says it, or state it'],
  [
    '(?<!(?:any|some|no|every)(?:one|thing|body|where) )(?<!no one |who |what |where |how |all |little |much |if |or )\\belse\\b',
    'use “otherwise”',
  ],
  ['(?:could|would|might|may|must|can|should|or) else', 'use “otherwise”'],
  ['(?<!let |leave it |stand-)\\balone\\b', 'use “only”, or say what it is without'],
  ['(?:goes|go|going|went|gone) on(?! (?:the|a) )', 'use “continues”, or “keeps …ing”'],
  ['no more(?= *(?:[.,;:!?)]|$))', 'use “no longer”'],
  ['(?:nothing|none) but', 'use “only”'],
  ['(?:in|of) whatever', 'use “any”'],
  ['hears? of', 'use “learns of” or “gets”'],
  ['all the same', 'use “anyway” or “still”'],
  ['likewise|in silence', 'use “too”, “in the same way” or “silently”'],
  ['seldom|ever more', 'use “rarely”, or “less and less often”'],
  ['if need be', 'use “if necessary”'],
  ['(?:get|gets|getting) on(?! with)', 'use “makes progress”'],
  ['(?:is|are|was) of (?:a|an|another|one)', 'use “belongs to” or “comes from”'],
  ['anew|afresh', 'use “again”'],
  ['for ever', 'use “forever”, “never deleted” or “permanently”'],
  ['of late(?!,| (?:ones?|payments?|money|receipts?|transfers?|blocks?)\\b)', 'use “recently”'],
  ['on and on', 'use “keeps …ing” or “again and again”'],
  ['to and fro', 'use “back and forth”'],
  ['in vain', 'use “without success”, or say what failed'],
  ['alike', 'use “both”, or “the same way”'],
  [
    '(?:sought|mended|whence|thereof|therein|thereby|upon|lest|nought|amid|begun|thus|hence|kin|whilst|till|ere)',
    'use a word of today',
  ],
];

/** Texts in other languages: only their comments are English. */
const inAnotherLanguage = /^src\/messages\/(?!en\/)\w+\//;
/** They are generated from texts that are checked, or are data. */
const exempt = /\/golden\/|\/help\.txt$|^(?:openapi|custom-elements|package-lock)\.json$|^LICENSE$/;
/** They name the words. */
const ofThisLint = new Set(['scripts/lint-words.mjs', 'test/tooling/words.test.ts']);

/** Texts that the specification of the checkout prescribes word for word. */
const prescribed = ['You may close this page; the shop is told.'];

/** Queries are not English. @param {string} text */
const isQuery = (text) =>
  /\b(?:select|case [\w.]* ?when|else (?:\d|'[\w ]+') end|insert into|update \w+ set|on conflict|delete from|create table)\b/.test(
    text,
  );

const compiled = rules.map(([pattern, advice, kinds]) => {
  const spaced = pattern.replaceAll(/(?<!\[[^\]]*) (?!\*)/g, '\\s+');
  return {
    pattern: pattern.startsWith('^')
      ? new RegExp(spaced, 'g')
      : new RegExp(pattern.startsWith('(?<') ? spaced : `\\b(?:${spaced})\\b`, 'gi'),
    advice,
    kinds,
  };
});

/** @param {string} file @param {string} source @returns {Finding[]} */
export function findingsOf(file, source) {
  const written = prescribed.reduce((text, one) => text.replaceAll(one, '·'.repeat(one.length)), source);
  const texts = textsOf(file, written).filter(
    ({ kind, text }) =>
      !['message', 'description'].includes(kind) || !(inAnotherLanguage.test(file) || isQuery(text)),
  );
  return texts.flatMap(({ kind, start, text }) =>
    compiled
      .filter(({ kinds }) => kinds?.includes(kind) ?? true)
      .flatMap(({ pattern, advice }) =>
        [...text.matchAll(pattern)].map(({ 0: words, index }) => ({
          file,
          line: source.slice(0, start + index + words.search(/\S/)).split('\n').length,
          words: words.trim().replace(/\s+/g, ' '),
          advice,
        })),
      ),
  );
}

/** @param {Finding} finding */
const lineOf = ({ file, line, words, advice }) => `${file}:${line} “${words}”: ${advice}`;

async function main() {
  const root = resolve(import.meta.dirname, '..');
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\0')
    .filter((file) => file !== '' && !exempt.test(file) && !ofThisLint.has(file));
  const findings = [];
  for (const file of files) {
    const source = await readFile(resolve(root, file), 'utf8').catch(() => '');
    findings.push(...findingsOf(file, source));
  }
  const [path = ''] = argv.slice(2);
  const lines = findings.filter(({ file }) => file.startsWith(path)).map(lineOf);
  for (const line of lines) console.log(line);
  if (lines.length > 0) process.exitCode = 1;
}

if (argv[1] === fileURLToPath(import.meta.url)) await main();
