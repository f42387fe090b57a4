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

it.runIf(process.getuid?.() === 0)(
  'docker-library/postgres#116, bitnami/bitnami-docker-postgresql#285: a folder of root that a group may write to is used, and no warning says to close it',
  async () => {
    const nobody = 65_534;
    await chmod(join(folder, '..'), 0o711);
    await chown(folder, 0, nobody);
    await chmod(folder, 0o775);
    process.setegid?.(nobody);
    process.seteuid?.(nobody);
    try {
      expect(await openIn(folder)).toEqual({ warnings: [], modes: ['600'] });
    } finally {
      process.seteuid?.(0);
      process.setegid?.(0);
    }
    expect(await modeOf(folder)).toBe('775');
  },
);
