/** The help texts, word by word: anyone who changes one on purpose sees the difference in `help.txt`. */
import { expect, it } from 'vitest';
import { commands, groups } from '../../src/command-line/registry.js';
import { runCommand } from '../../src/command-line/run.js';

const names = new Set(['', ...groups.map((group) => group.name), ...commands.keys()]);

it('every help text is the one in help.txt', async () => {
  const shown: string[] = [];
  for (const name of names) {
    const words = name === '' ? [] : name.split(' ');
    const { exitCode, stdout, stderr } = await runCommand([...words, '--help'], {});
    expect([name, exitCode, stderr]).toEqual([name, 0, '']);
    shown.push(`$ ${['crypto-checkout-server', ...words, '--help'].join(' ')}\n${stdout}`);
  }
  await expect(shown.join('\n')).toMatchFileSnapshot('help.txt');
});
