/** The commands that the README promises, and that the gate runs them. */
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

it('README starts with two commands: one that runs the product, and one that tests it', async () => {
  const [, start = ''] = (await read('README.md')).split('\n## Start\n');
  const commands = [...start.matchAll(/```sh\n([^`]*)```/g)].map(([, command = '']) => command.trim());
  expect(commands.slice(0, 2)).toEqual(['npm ci && npm start', 'npm test']);
  for (const tool of ['better-sqlite3', 'make', 'g++', 'python3'])
    expect(start.split('## ')[0]).toContain(tool);
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> };
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test']));
});

it('the gate installs as README says, and runs its command for the tests', async () => {
  const gate = await read('.ci/run');
  expect(gate).toMatch(/^if npm ci; then$/m);
  expect(gate).toMatch(/^ +count npm test$/m);
});
