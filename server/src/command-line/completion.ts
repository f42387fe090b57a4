/** `completion`: a script with which a shell completes the names of commands and options. */
import { command, commonOptions, optionName, type Command, type Group } from '../core/commands/command.js';
import { program } from '../core/commands/help.js';
import * as option from '../core/commands/options.js';

const shells = ['bash', 'zsh', 'fish'] as const;

/** The words that may follow some first words, by these. */
function nextWords(groups: readonly Group[]): Map<string, Set<string>> {
  const next = new Map([
    ['', new Set(['start', 'help', 'completion'])],
    ['start', new Set(['--check', '--help'])],
    ['completion', new Set<string>(shells)],
  ]);
  const add = (before: string, word: string) => {
    next.set(before, (next.get(before) ?? new Set()).add(word));
  };
  for (const { name, commands } of groups) {
    for (const [verb, one] of Object.entries(commands)) {
      const words = `${name} ${verb}`.trim().split(' ');
      for (const [index, word] of words.entries()) add(words.slice(0, index).join(' '), word);
      for (const written of optionsOf(one)) add(words.join(' '), written);
    }
  }
  return next;
}

const optionsOf = ({ options = {} }: Command) =>
  Object.keys({ ...options, ...commonOptions }).map(optionName);

const isOption = (word: string) => word.startsWith('--');

/** For bash, and for zsh, which reads such scripts after `bashcompinit`. */
function bash(groups: readonly Group[]): string {
  const cases = [...nextWords(groups)].map(([before, words]) => {
    // The options of a command may follow its arguments and each other.
    const pattern = [...words].every(isOption) ? `"${before}"|"${before} "*` : `"${before}"`;
    return `    ${pattern}) words="${[...words].join(' ')}" ;;`;
  });
  return `_crypto_checkout_server() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=""
  local before="\${COMP_WORDS[*]:1:$((COMP_CWORD - 1))}"
  case "$before" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _crypto_checkout_server ${program}`;
}

function fish(groups: readonly Group[]): string {
  const lines = [...nextWords(groups)].flatMap(([before, words]) => {
    // The options of a command may follow its arguments and each other.
    const condition = [...words].every(isOption)
      ? `string match -q -- '${before} *' (__crypto_checkout_before)' '`
      : `test (__crypto_checkout_before) = '${before}'`;
    return [...words].map((word) => {
      const what = isOption(word) ? `-l ${word.slice(2)}` : `-a ${word}`;
      return `complete -c ${program} -f -n "${condition}" ${what}`;
    });
  });
  return `function __crypto_checkout_before
  string join -- ' ' (commandline -opc)[2..] | string collect --allow-empty
end
${lines.join('\n')}`;
}

const scripts: Readonly<Record<(typeof shells)[number], (groups: readonly Group[]) => string>> = {
  bash,
  // A zsh without settings of its own has no completion yet.
  zsh: (groups) => `(( $+functions[compdef] )) || { autoload -U compinit && compinit }
autoload -U +X bashcompinit && bashcompinit
${bash(groups)}`,
  fish,
};

/** @param groups all that it completes */
export const completionGroup = (groups: readonly Group[]): Group => ({
  name: '',
  summary: 'The shell.',
  commands: {
    completion: command({
      summary: 'Prints a script that completes commands and options in a shell.',
      details: `bash: source <(${program} completion bash). zsh: the same with zsh. fish: ${program} completion fish | source. Put the line into the file that your shell reads at its start.`,
      args: { shell: option.oneOf(shells, 'the shell').required() },
      runAlone({ shell }) {
        const script = scripts[shell](groups);
        return Promise.resolve({ json: { shell, script }, text: script });
      },
    }),
  },
});
