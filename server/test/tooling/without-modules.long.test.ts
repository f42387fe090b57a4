/**
 * Each module can be left out, and no other one that does not require it misses it. A few cuts show that for all: each module is gone in
 * some of them, and each other one is there in one of those. `without-modules.soak.test.ts` leaves them out one by one.
 */
import { describe, expect, it } from 'vitest';
import { resources as coreResources } from '../../src/core/reference/resources.js';
import { modules, product } from '../../src/modules.js';
import {
  build,
  goingWith,
  keepsTheSpecification,
  limitMs,
  onPostgres,
  onSqlite,
  readLeft,
  testCuts,
} from './without-modules.js';

const bitsOf = (mask: number) => mask.toString(2).replaceAll('0', '').length;
const contains = (mask: number, part: number) => (mask & part) === part;

/**
 * For each module the cuts in which it is gone, as bits. None contains those of another module, unless it requires that one.
 * @returns undefined if there are not enough cuts for that
 */
function placesIn(count: number): Map<string, number> | undefined {
  const places = new Map<string, number>();
  for (const { name, requires } of modules) {
    const isRequired = modules.some((one) => one.requires.includes(name));
    const size = Math.floor(count / 2) - (isRequired ? 1 : 0);
    const place = Array.from({ length: 2 ** count }, (_, mask) => mask).find(
      (mask) =>
        bitsOf(mask) === size &&
        requires.every((required) => contains(mask, places.get(required) ?? 0)) &&
        [...places].every(
          ([other, taken]) => (requires.includes(other) || !contains(mask, taken)) && !contains(taken, mask),
        ),
    );
    if (place === undefined) return undefined;
    places.set(name, place);
  }
  return places;
}

function fewCuts() {
  for (let count = 2; count <= modules.length; count += 1) {
    const places = placesIn(count);
    if (places === undefined) continue;
    return Array.from({ length: count }, (_, cut) =>
      goingWith(...[...places].flatMap(([name, place]) => (contains(place, 1 << cut) ? [name] : []))),
    );
  }
  // As where a module requires one that requires another.
  return modules.map(({ name }) => goingWith(name));
}

const cuts = fewCuts();

describe('The product', () => {
  const readWhole = testCuts(cuts);

  it('has what its modules declare', () => {
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
  });

  it('has each module after those that it requires', () => {
    const names = modules.map(({ name }) => name);
    for (const { name, requires } of modules)
      expect(names.slice(0, names.indexOf(name)), name).toEqual(expect.arrayContaining([...requires]));
  });

  it('is built without each module while each other one that does not require it is there', () => {
    expect(cuts.length).toBeLessThan(modules.length);
    for (const { name } of modules) {
      const going = goingWith(name);
      for (const other of modules.filter((one) => !going.includes(one))) {
        const shown = cuts.some((gone) => gone.some((one) => one.name === name) && !gone.includes(other));
        expect(shown, `${other.name} without ${name}`).toBe(true);
      }
    }
  });

  it.concurrent(
    'works without any module: the core keeps the specification',
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
      const declared = modules.flatMap(({ tables }) => Object.keys(tables));
      expect(left.tables.filter((table) => declared.includes(table))).toEqual([]);
      await keepsTheSpecification(folder, onSqlite, onPostgres);
    },
    limitMs,
  );
});
