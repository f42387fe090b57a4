/**
 * Lists of all parts to build, check and describe: each must have all folders with code, or a build passes over one
 * without a word.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeVariables } from '../../src/core/config.js';
import { modules, settings } from '../../src/modules.js';
import { contextFiles } from './image.js';

const root = resolve(import.meta.dirname, '../../..');
const read = (name: string) => readFileSync(resolve(root, name), 'utf8');
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
/** Folders at the top with code of ours. `examples` and `plugins` have tools of their own, and `types` is checked with them. */
const folders = [
  ...new Set(
    tracked
      .filter((file) => /\.(ts|mjs)$/.test(file) && file.includes('/'))
      .map((file) => file.split('/')[0] ?? ''),
  ),
].filter((folder) => !['examples', 'plugins', 'types'].includes(folder));
/** Those with a Vite build of their own. */
const built = tracked.flatMap((file) => /^(\w+)\/vite\.config\.ts$/.exec(file)?.[1] ?? []);

it('there is something to compare', () => {
  expect(folders).toEqual(
    expect.arrayContaining(['src', 'server', 'claim', 'console', 'demo', 'scripts', 'test', 'bench']),
  );
  expect(built).toEqual(expect.arrayContaining(['claim', 'console']));
});

describe.each(folders)('%s', (folder) => {
  it('a folder with code is in the lists of import rules, the type checker, unused code and the architecture', () => {
    const { scripts: _, ...knip } = JSON.parse(read('knip.json')) as {
      scripts?: unknown;
      workspaces: Record<string, { project: string[] }>;
    };
    const projects = Object.entries(knip.workspaces).flatMap(([name, { project }]) =>
      project.map((glob) => `${name}/${glob}`),
    );
    expect(read('scripts/check.mjs')).toMatch(new RegExp(`depcruise [^']*\\b${folder}\\b`));
    if (!['src', 'server'].includes(folder)) expect(read('tsconfig.tools.json')).toContain(`"${folder}"`);
    expect(projects.some((glob) => new RegExp(`\\b${folder}\\b`).test(glob))).toBe(true);
    expect(read('docs/architecture.md')).toMatch(new RegExp(`^(?:\\S+ +)?${folder}/`, 'm'));
  });
});

it('the picture of the architecture has the modules of the product, and its rooms have their folders', () => {
  const architecture = read('docs/architecture.md');
  const names = modules.map(({ name }) => name);
  const [, picture = ''] = /^ +modules\["(.+)"\]$/m.exec(architecture) ?? [];
  expect(picture.split(/,(?: |<br>)/).sort()).toEqual(names.toSorted());
  const [, rooms = ''] = /^server\/src\/modules\/ ((?:.+\n)+?)\w/m.exec(architecture) ?? [];
  const folders = [...rooms.matchAll(/([\w-]+)\/(?= |$)/gm)].map(([, folder]) => folder);
  expect(folders).toEqual(expect.arrayContaining(names));
});

describe.each(built)('The folder %s, which Vite builds', (folder) => {
  it('a folder with a Vite build is built by `npm run build`, and has its sources in the image and a size budget', async () => {
    expect(read('scripts/build.mjs')).toContain(`vite build --config ${folder}/vite.config.ts`);
    const sources = tracked.filter((file) => file.startsWith(`${folder}/`));
    expect(await contextFiles()).toEqual(expect.arrayContaining(sources));
    expect(read('.size-limit.mjs')).toContain(`server/dist/${folder}`);
  });
});

it('every file that the widget’s package has goes into the image, and nothing that is secret or large', async () => {
  const { files } = JSON.parse(read('package.json')) as { files: string[] };
  const context = await contextFiles();
  for (const file of files.filter((name) => !name.startsWith('!') && name !== 'dist')) {
    expect(
      context.some((one) => `${one}/`.startsWith(`${file}/`)),
      file,
    ).toBe(true);
  }
  expect(
    context.filter((file) => /^(test|bench|examples|server\/test|\.git|node_modules)\b|\.env/.test(file)),
  ).toEqual([]);
});

it.each(['Dockerfile', 'compose.yaml'])('%s sets no variable that the server does not know', (name) => {
  const known = [...describeVariables(settings).matchAll(/^ {2}([A-Z_]+)=/gm)].map(
    ([, variable]) => variable,
  );
  const server =
    name === 'Dockerfile' ? read(name) : read(name).slice(0, read(name).indexOf('\n  database:'));
  const set =
    name === 'Dockerfile'
      ? [...server.matchAll(/([A-Z_]+)=\S/g)]
      : [...server.matchAll(/^ {6}([A-Z_]+): /gm)];
  const names = set
    .map(([, variable]) => variable)
    .filter((variable) => !['NODE_ENV', 'MALLOC_ARENA_MAX'].includes(variable ?? ''));
  expect(names).toContain('DATABASE_URL');
  expect(names.filter((variable) => !known.includes(variable ?? ''))).toEqual([]);
});

it('every command that CI runs is one of the package', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const names = [...read('.ci/run').matchAll(/npm (?:run )?(test|[\w:]+)(?= |$)/gm)].map(
    ([, name]) => name ?? '',
  );
  expect(names.filter((name) => name !== 'ci' && !(name in scripts))).toEqual([]);
});
