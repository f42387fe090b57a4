/** Formats usage and help texts for a terminal of 80 columns. */
import { commonOptions, optionName, type Command, type Group } from './command.js';
import type { Option } from './options.js';

export const program = 'crypto-checkout-server';
/** The program as a shell in the server's folder calls it: a clone has it only as a file. */
export const calledAs = import.meta.url.includes('/node_modules/')
  ? `npx --no-install ${program}`
  : 'node server/dist/cli.js';
const columns = 80;
/** Longer options get a line of their own. */
const widestOption = 28;

/** @param name all words of the command */
export function usageText(name: string, command: Command): string {
  return wrap('Usage: ', `${program} ${usage(name, command)} [--json]`, 7);
}

export function commandHelp(name: string, command: Command): string {
  const { summary, details, args = {}, options = {} } = command;
  const described = [
    ...Object.values(args).map((arg) => [arg.value ?? '', arg.describe]),
    ...Object.entries({ ...options, ...commonOptions }).map(([key, one]) => [
      written(key, one),
      one.describe,
    ]),
  ];
  return [usageText(name, command), wrap('', summary, 0), ...paragraphs(details), list(described)].join(
    '\n\n',
  );
}

export function groupHelp(name: string, groups: readonly Group[]): string {
  const [{ summary } = { summary: '' }] = groups;
  return [
    `Usage: ${program} ${name} COMMAND [--json] [--help]`,
    wrap('', summary, 0),
    groups.flatMap(summaries).join('\n'),
    ...closing,
  ].join('\n\n');
}

/** A line for each command: its own help has the rest. */
export function programHelp(groups: readonly Group[]): string {
  const start = { start: 'Starts the server. Its own --help lists the environment variables.' };
  const sections = new Map<string, Record<string, string>>([['', start]]);
  for (const { name, commands } of groups) {
    // A module adds to the group of another room.
    const summaries = Object.entries(commands).map(([verb, { summary }]) => [verb, summary] as const);
    sections.set(name, { ...sections.get(name), ...Object.fromEntries(summaries) });
  }
  const width = Math.max(
    ...[...sections.values()].flatMap((verbs) => Object.keys(verbs).map(({ length }) => length)),
  );
  return [
    `Usage: ${program} COMMAND [--json] [--help]\n       ${program} help [COMMAND]\n       ${program} --version`,
    ...[...sections].map(([name, verbs]) =>
      [
        ...(name === '' ? [] : [name]),
        ...Object.entries(verbs).map(([verb, summary]) => {
          const line = `  ${verb.padEnd(width)}  `;
          return `${line}${firstWords(summary, columns - line.length)}`;
        }),
      ].join('\n'),
    ),
    ...closing,
  ].join('\n\n');
}

/** Shortens a sentence to fit into a line. */
function firstWords(sentence: string, length: number): string {
  if (sentence.length <= length) return sentence;
  const cut = sentence.slice(0, length - 1);
  return `${cut.slice(0, cut.lastIndexOf(' ')).replace(/[,;:]$/, '')} …`;
}

const closing = [
  ...paragraphs(`Commands work on the database in DATABASE_URL, also while the server is running. Only the server creates it. They say on stderr which database that is.

Test and live records never mix. Every command that works on the records of one mode takes test mode, unless --mode live is given.`),
  list([
    ['--json', commonOptions.json.describe],
    ['--as NAME', commonOptions.as.describe],
    ['--help', 'prints the help of a command or a group'],
  ]),
];

function summaries({ name, commands }: Group): string[] {
  return Object.entries(commands).map(([verb, command]) =>
    summaryOf(usage(`${name} ${verb}`.trim(), command), command.summary),
  );
}

function summaryOf(line: string, summary: string): string {
  return `${wrap('  ', line, 4)}\n${wrap(' '.repeat(6), summary, 6)}`;
}

/** `keys revoke ID`, without the name of the program. */
function usage(name: string, { args = {}, options = {} }: Command): string {
  const given = Object.entries(options).map(([key, option]) => {
    const bare = written(key, option);
    return `${option.isRequired ? bare : `[${bare}]`}${option.isRepeated ? '...' : ''}`;
  });
  return [name, ...Object.values(args).map(({ value }) => value), ...given].join(' ');
}

/** `--fee-rate N`. */
function written(key: string, { value }: Option<unknown>): string {
  return value === undefined ? optionName(key) : `${optionName(key)} ${value}`;
}

function paragraphs(text = ''): string[] {
  if (text === '') return [];
  return text.split(/\n{2,}/).map((paragraph) => paragraph.split('\n').map(wrapLine).join('\n'));
}

/** Keeps the indent of a line, and indents the lines that continue it twice as far. */
function wrapLine(line: string): string {
  const [indent = ''] = /^ */.exec(line) ?? [];
  return wrap(indent, line, 2 * indent.length);
}

/** Aligns the descriptions of options. */
function list(rows: readonly (readonly string[])[]): string {
  const lengths = rows.map(([option = '']) => option.length).filter((length) => length <= widestOption);
  const width = Math.max(0, ...lengths) + 4;
  return rows
    .map(([option = '', describe = '']) =>
      option.length > width - 4
        ? `  ${option}\n${wrap(' '.repeat(width), describe, width)}`
        : wrap(`  ${option}`.padEnd(width), describe, width),
    )
    .join('\n');
}

/**
 * Wraps words after a prefix. Brackets such as `[--mode test|live]`, and an option with its value, stay whole.
 * @param indent of all lines but the first
 */
function wrap(prefix: string, text: string, indent: number): string {
  const words = text.match(/\[[^[\]]*\]\S*|--[\w-]+ [A-Z|a-z]+(?= |$)|\S+/g) ?? [];
  const lines: string[] = [];
  let line = prefix;
  let isEmpty = true;
  for (const word of words) {
    const longer = isEmpty ? line + word : `${line} ${word}`;
    if (!isEmpty && longer.length > columns) {
      lines.push(line);
      line = ' '.repeat(indent) + word;
    } else line = longer;
    isEmpty = false;
  }
  return [...lines, line.trimEnd()].join('\n');
}
