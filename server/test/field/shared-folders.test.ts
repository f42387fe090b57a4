/**
 * Folders that a database is put into and that others use as well. Programs that closed them stopped everything else on the machine, or
 * the database itself.
 */
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.js';

let folder = '';
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'crypto-checkout-shared-')), 'data');
  await mkdir(folder);
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

/** With the sticky and the setgid bit. */
const modeOf = async (path: string) => ((await stat(path)).mode & 0o7777).toString(8);

/** @returns the warnings, and the mode of each file that was made */
async function openIn(path: string) {
  const warnings: string[] = [];
  const database = await openDatabase(`sqlite:${join(path, 'checkout.db')}`, {
    warn: (message) => warnings.push(message),
  });
  const names = await readdir(path);
  const modes = await Promise.all(names.map((name) => modeOf(join(path, name))));
  await database.close();
  return { warnings, modes: [...new Set(modes)] };
}

it('openclaw/openclaw#103190, pagespeed/page-speed#91: an empty /tmp stays the folder of all users', async () => {
  await chmod(folder, 0o1777);
  expect(await openIn(folder)).toEqual({ warnings: [], modes: ['600'] });
  expect(await modeOf(folder)).toBe('1777');
});

it('goharbor/harbor-helm#330: a volume that belongs to a group stays open to it', async () => {
  await chmod(folder, 0o2770);
  expect(await openIn(folder)).toEqual({ warnings: [], modes: ['600'] });
  expect(await modeOf(folder)).toBe('2770');
});

/** As the user nobody and its group, with the database in a folder of root's. */
async function openAsNobody(mode: number) {
  const nobody = 65_534;
  await chmod(join(folder, '..'), 0o711);
  await chown(folder, 0, nobody);
  await chmod(folder, mode);
  process.setegid?.(nobody);
  process.seteuid?.(nobody);
  try {
    return await openIn(folder);
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}

const onlyRoot = 'only root can become another user';

it('docker-library/postgres#116, bitnami/bitnami-docker-postgresql#285: a folder of root that a group may write to is used, and no warning says to close it', async ({
  skip,
}) => {
  skip(process.getuid?.() !== 0, onlyRoot);
  expect(await openAsNobody(0o775)).toEqual({ warnings: [], modes: ['600'] });
  expect(await modeOf(folder)).toBe('775');
});

it('A folder of another user to which everybody may write is used, with a warning that does not lock the server out', async ({
  skip,
}) => {
  skip(process.getuid?.() !== 0, onlyRoot);
  const { warnings } = await openAsNobody(0o777);
  expect(warnings).toEqual([expect.stringMatching(/can replace .*checkout\.db: everybody may write/)]);
  expect(await modeOf(folder)).toBe('777');
});

it('A folder of a group to which everybody may write is closed', async () => {
  await chmod(folder, 0o2777);
  const { warnings } = await openIn(folder);
  expect(warnings).toEqual([expect.stringContaining('It is mode 700 now')]);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});
