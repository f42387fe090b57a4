/** Formats help texts for a terminal of 80 columns. */
import type { CommandText } from './command.js';

export const program = 'crypto-checkout-server';
const columns = 80;

export function commandHelp(command: CommandText): string {
  const closing = `  --json          prints the result as one JSON value
  --help          prints this text`;
  return `${usageText(command)}\n\n${formatHelp(`${command.help}\n\n${closing}`)}`;
}

const start: Pick<CommandText, 'usage' | 'help'> = {
  usage: 'start',
  help: 'Starts the server. Its own --help lists the environment variables.',
};

/** The help of a group of commands, or of the whole program. */
export function groupHelp(listed: readonly CommandText[], isWhole: boolean): string {
  const lines = [...(isWhole ? [start] : []), ...listed].map(
    ({ usage, help }) => `${wrap('  ', usage, 4)}\n${wrap(' '.repeat(6), firstSentence(help), 6)}`,
  );
  return `Usage: ${program} COMMAND [--json] [--help]
       ${program} help [COMMAND]
       ${program} --version

${lines.join('\n')}

${formatHelp(`Commands work on the database in DATABASE_URL, also while the server is running. Only the server creates it. They say on stderr which database that is.

Test and live records never mix. A command that works on the records of one mode needs --mode test or --mode live; none is assumed. Settings that have a default say so.

  --json          prints the result as one JSON value
  --help          prints the help of a command or a group`)}`;
}

export function usageText({ usage }: CommandText): string {
  return wrap('Usage: ', `${program} ${usage} [--json]`, 7);
}

/** Wraps paragraphs, and aligns the descriptions of options. An option is a line that starts with two spaces. */
function formatHelp(help: string): string {
  return help
    .split(/\n{2,}/)
    .map((block) => formatBlock(block.split('\n')))
    .join('\n\n');
}

function formatBlock(lines: readonly string[]): string {
  const items: string[] = [];
  for (const line of lines) {
    const last = items.at(-1);
    const isContinued =
      last !== undefined && (last.startsWith('  ') ? line.startsWith('    ') : !line.startsWith('  '));
    if (isContinued) items[items.length - 1] = `${last} ${line.trim()}`;
    else items.push(line);
  }
  const flags = items.filter((item) => item.startsWith('  ')).map((item) => splitOption(item)[0].length);
  const width = Math.max(0, ...flags) + 4;
  return items
    .map((item) => {
      if (!item.startsWith('  ')) return wrap('', item, 0);
      const [flag, description] = splitOption(item);
      return wrap(`  ${flag.padEnd(width - 2)}`, description, width);
    })
    .join('\n');
}

function splitOption(item: string): [flag: string, description: string] {
  const [, flag = '', description = ''] = /^ {2}(.*?)(?: {2,}(.*))?$/.exec(item) ?? [];
  return [flag, description];
}

function firstSentence(help: string): string {
  const [paragraph = ''] = help.split('\n\n');
  const text = paragraph.replaceAll('\n', ' ');
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;
}

/**
 * Wraps words after a prefix. Brackets such as `[--mode test|live]`, and a flag with its value, stay whole.
 * @param indent of all lines but the first
 */
function wrap(prefix: string, text: string, indent: number): string {
  const words = text.match(/\[[^\]]*\]\S*|--[\w-]+ [A-Z|a-z]+(?= |$)|\S+/g) ?? [];
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
