/** The server's command line, as a shell in the server's folder calls it: a clone has it only as a file. */
let called = 'crypto-checkout-server';

export function setCommandLine(text: string): void {
  if (text !== '') called = text;
}

/** To be copied into a shell. */
export const onServer = (command: string) => `${called} ${command}`;

/** One word of a command, whatever is in it. */
export const inShell = (word: string) =>
  /^[\w.@+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
