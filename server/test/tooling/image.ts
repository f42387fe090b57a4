/** Builds a Docker image without Docker: its context as `.dockerignore` leaves it, and each step of the Dockerfile in a folder of its own. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');
const read = (name: string) => readFile(join(root, name), 'utf8');

export interface Image {
  /** The folder that is `/` in the image. */
  readonly folder: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

/** The tracked and the new files of the repository that a build may read. The last pattern that matches a file or a folder above it decides. */
export async function contextFiles(): Promise<string[]> {
  const { stdout } = await execute('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
  });
  const lines = (await read('.dockerignore'))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const patterns = lines.map((line) => ({
    isKept: line.startsWith('!'),
    pattern: globOf(line.replace('!', '')),
  }));
  const isAllowed = (file: string) => {
    const parts = file.split('/');
    const paths = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    return patterns.findLast(({ pattern }) => paths.some((path) => pattern.test(path)))?.isKept ?? true;
  };
  return stdout.split('\n').filter((file) => file !== '' && existsSync(join(root, file)) && isAllowed(file));
}

/** As Docker reads a pattern: a star stops at a slash, and two do not. */
function globOf(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('**/', '(.*/)?').replaceAll(/(?<!\.)\*/g, '[^/]*')}$`);
}

/** @param directory for the image, empty */
export async function buildImage(directory: string): Promise<Image> {
  const context = join(directory, 'context');
  for (const file of await contextFiles()) await cp(join(root, file), join(context, file));
  const stages = new Map<string, Image>();
  let image: Image | undefined;
  for (const [instruction, rest] of instructionsOf(await read('Dockerfile'))) {
    if (instruction === 'FROM') {
      const [base = '', , name = 'last'] = rest.split(' ');
      const from = stages.get(base);
      const folder = join(directory, name);
      await mkdir(folder);
      if (from) await link(`${from.folder}/.`, folder);
      image = from ? { ...from, folder } : { folder, workdir: '/', env: {}, command: [], healthcheck: [] };
      stages.set(name, image);
      continue;
    }
    if (!image) throw new Error('The Dockerfile begins with another instruction than FROM');
    image = await apply(image, instruction, rest, context, stages);
    for (const [name, { folder }] of stages) if (folder === image.folder) stages.set(name, image);
  }
  if (!image) throw new Error('The Dockerfile is empty');
  return image;
}

async function apply(
  image: Image,
  instruction: string,
  rest: string,
  context: string,
  stages: ReadonlyMap<string, Image>,
): Promise<Image> {
  const { folder, workdir } = image;
  switch (instruction) {
    case 'WORKDIR':
      await mkdir(join(folder, rest), { recursive: true });
      return { ...image, workdir: rest };
    case 'ENV': {
      const values = rest
        .split(' ')
        .map((pair) => [pair.split('=')[0] ?? '', pair.slice(pair.indexOf('=') + 1)]);
      return { ...image, env: { ...image.env, ...(Object.fromEntries(values) as Record<string, string>) } };
    }
    case 'COPY': {
      const [, stage, paths = ''] = /^(?:--from=(\S+) )?(.+)$/.exec(rest) ?? [];
      const source = stage === undefined ? context : stages.get(stage)?.folder;
      if (source === undefined) throw new Error(`There is no stage ${stage}`);
      await copy(source, paths.split(' '), join(folder, workdir));
      return image;
    }
    case 'RUN':
      for (const command of rest.split(' && ')) await run(command, image);
      return image;
    case 'CMD':
      return { ...image, command: JSON.parse(rest) as string[] };
    case 'HEALTHCHECK':
      return { ...image, healthcheck: JSON.parse(rest.slice(rest.indexOf('['))) as string[] };
    case 'USER':
    case 'VOLUME':
    case 'EXPOSE':
      return image;
    default:
      throw new Error(`This test does not know ${instruction}`);
  }
}

function instructionsOf(text: string): (readonly [string, string])[] {
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  return lines
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
}

/** As COPY does: what a source names must be there, the content of a folder is copied, and a folder as the target ends with a slash or has one source. */
async function copy(source: string, paths: readonly string[], workdir: string): Promise<void> {
  const target = paths.at(-1) ?? '';
  for (const path of paths.slice(0, -1)) {
    const from = join(source, path);
    const isFolder = await execute('test', ['-d', from]).then(
      () => true,
      () => false,
    );
    const to = join(workdir, target, target.endsWith('/') && !isFolder ? (path.split('/').at(-1) ?? '') : '');
    await mkdir(isFolder ? to : dirname(to), { recursive: true });
    await link(isFolder ? `${from}/.` : from, to);
  }
}

/** Copies by hard links, which cost neither time nor space. */
const link = (from: string, to: string) => execute('cp', ['-al', '--force', from, to]);

async function run(command: string, { folder, workdir }: Image): Promise<void> {
  const cwd = join(folder, workdir);
  if (/^npm ci( |$)/.test(command)) return install(cwd, command.includes('--omit=dev'));
  // The image's own user and folders above the working directory are not those of this machine.
  const here = command.replace(/ -o node -g node/, '').replaceAll(/ \/(?=\w)/g, ` ${folder}/`);
  await execute('sh', ['-c', here], { cwd, maxBuffer: 50_000_000 });
}

/**
 * In the place of `npm ci`, which would fetch 800 packages: those of the lock file that are installed here, linked. Those of production are
 * copied, so that they find no other.
 */
async function install(app: string, isProduction: boolean): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(app, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { readonly dev?: boolean; readonly link?: boolean; readonly resolved?: string }>;
  };
  for (const folder of ['node_modules', 'server/node_modules']) {
    await rm(join(app, folder), { recursive: true, force: true });
  }
  for (const [path, { dev, link: isLink, resolved = '' }] of Object.entries(packages)) {
    if (!/^(server\/)?node_modules\/(@[^/]+\/)?[^/]+$/.test(path) || (isProduction && dev)) continue;
    const target = join(app, path);
    await mkdir(dirname(target), { recursive: true });
    if (isLink) await symlink(join('..', resolved), target);
    else if (!existsSync(join(root, path))) continue;
    else if (isProduction) await execute('cp', ['-a', join(root, path), target]);
    else await symlink(join(root, path), target);
  }
  if (!isProduction) await symlink(join(root, 'node_modules/.bin'), join(app, 'node_modules/.bin'));
}
