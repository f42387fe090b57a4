/** The core works without any module. `without-modules.soak.test.ts` leaves out one module at a time. */
import { describe, expect, it } from 'vitest';
import { resources as coreResources } from '../../src/core/reference/resources.js';
import { modules, product } from '../../src/modules.js';
import {
  build,
  keepsTheSpecification,
  limitMs,
  namedIn,
  onPostgres,
  onSqlite,
  readLeft,
  useWhole,
  without,
} from './without-modules.js';

/** The pages of modules, as texts name them. */
const pages = /\b(?:console|demo\s+shop)\b/;

describe('The product', () => {
  const readWhole = useWhole();

  it('The product has everything that its modules declare', () => {
    const whole = readWhole();
    expect(whole.pages).toEqual(expect.arrayContaining(['', 'docs', 'docs/webhooks', 'console']));
    expect(whole.resources).toEqual(Object.keys(product.resources));
    expect(whole.consoleReaders).toBe(null);
    for (const module of modules) {
      expect(whole.tables).toEqual(expect.arrayContaining(Object.keys(module.tables)));
      const names = module.commands.flatMap(({ name, commands }) =>
        Object.keys(commands).map((verb) => `${name} ${verb}`.trim()),
      );
      expect(whole.commands).toEqual(expect.arrayContaining(names));
    }
    // The other tests find no removed command in the same texts.
    expect(namedIn(whole, ['merchants update'])).toContain('books export: merchants update');
  });

  it('The product has each module after those that the module requires', () => {
    const names = modules.map(({ name }) => name);
    for (const { name, requires } of modules)
      expect(names.slice(0, names.indexOf(name)), name).toEqual(expect.arrayContaining([...requires]));
  });

  it(
    'The product works without any module: the core keeps the specification',
    async () => {
      const names = modules.map(({ name }) => name);
      const folder = await build('modules', names);
      const left = await readLeft(folder);
      expect(left.jobsOf).toEqual({});
      expect(left.resources).toEqual(Object.keys(coreResources));
      expect(left.pages).toEqual([]);
      expect(left.consoleStatus).toBe(404);
      expect(left.docsUrl).toBe(null);
      expect(left.consoleReaders).toBe('*');
      expect(namedIn(left, without(readWhole().commands, left.commands))).toEqual([]);
      const settings = modules.flatMap((module) => Object.keys(module.settings));
      const namesSetting = new RegExp(`\\b(?:${settings.join('|')})\\b`);
      for (const [name, text] of left.helps) {
        expect(text, name).not.toMatch(pages);
        expect(text, name).not.toMatch(namesSetting);
      }
      const declared = modules.flatMap(({ tables }) => Object.keys(tables));
      expect(left.tables.filter((table) => declared.includes(table))).toEqual([]);
      await keepsTheSpecification(folder, onSqlite, onPostgres);
    },
    limitMs,
  );
});
