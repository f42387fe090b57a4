/** The file of the restore marker, as a server writes and reads it for years, next to other processes. */
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMarker } from '../../src/modules/restore/marker.js';

describe('The marker', () => {
  let directory: string;
  let path: string;
  let complaints: unknown[];
  const openPath = () =>
    openMarker(path, { error: (...args: unknown[]) => void complaints.push(args) }, () => 1);
  const lines = (count: number, name = 'source', first = 1) =>
    Array.from({ length: count }, (_, index) => `${first + index} ${name} .\n`).join('');
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'crypto-checkout-marker-'));
    path = join(directory, 'marker');
    complaints = [];
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
    expect(complaints).toEqual([]);
  });

  it('The marker stays short while it is written, and keeps the highest values', () => {
    const marker = openPath();
    marker.raise('once', 7);
    for (let value = 1; value <= 20_000; value += 1) marker.raise(`source-${value % 3}`, value);
    expect(statSync(path).size).toBeLessThanOrEqual(100_000);
    expect(readdirSync(directory)).toEqual(['marker']);
    const values = { once: 7, 'source-0': 19_998, 'source-1': 19_999, 'source-2': 20_000 };
    for (const one of [marker, openPath()]) {
      expect(Object.fromEntries(one.read())).toEqual(values);
      expect(one.since()).toBe(1);
    }
  });

  it('The marker is read only where it has grown', () => {
    const marker = openPath();
    writeFileSync(path, lines(200_000));
    const timeOf = (times: number) => {
      const start = performance.now();
      for (let time = 0; time < times; time += 1) {
        appendFileSync(path, lines(1, 'other', time + 1));
        expect(marker.read().get('other')).toBe(time + 1);
      }
      return performance.now() - start;
    };
    const whole = timeOf(1);
    expect(timeOf(30)).toBeLessThan(whole);
    expect(marker.read().get('source')).toBe(200_000);
  });

  it('The marker has the values of both processes that rewrite it again and again', () => {
    const markers = [openPath(), openPath()];
    for (let value = 1; value <= 10_000; value += 1)
      markers.forEach((marker, index) => marker.raise(`server-${index}`, value));
    for (const marker of [...markers, openPath()])
      expect(Object.fromEntries(marker.read())).toEqual({ 'server-0': 10_000, 'server-1': 10_000 });
    expect(statSync(path).size).toBeLessThanOrEqual(200_000);
  });

  it('The marker does not believe a line that a crash has cut short, and continues after it', () => {
    writeFileSync(path, `${lines(5)}4`);
    const marker = openPath();
    expect(marker.read().get('source')).toBe(5);
    marker.raise('source', 6);
    expect(openPath().read().get('source')).toBe(6);
  });

  it('The marker reads the rest of a line that was only half written', () => {
    const marker = openPath();
    writeFileSync(path, `${lines(5)}9 sou`);
    expect(marker.read().get('source')).toBe(5);
    appendFileSync(path, 'rce .\n');
    expect(marker.read().get('source')).toBe(9);
  });

  it.each([
    ['a shorter one in its place', (copy: string) => renameSync(copy, path), 3],
    ['a longer one in its place', (copy: string) => renameSync(copy, path), 3000],
    ['a shorter one copied into it', (copy: string) => copyFileSync(copy, path), 3],
    ['a longer one copied into it', (copy: string) => copyFileSync(copy, path), 3000],
  ])('The marker is read whole if it is another file: %s', (_, put, count) => {
    const marker = openPath();
    writeFileSync(path, lines(1000));
    expect(marker.read().get('source')).toBe(1000);
    const copy = join(directory, 'copy');
    writeFileSync(copy, `77 first .\n${lines(count, 'other')}`);
    put(copy);
    expect(Object.fromEntries(marker.read())).toEqual({ source: 1000, first: 77, other: count });
    rmSync(copy, { force: true });
    rmSync(path);
    expect(marker.read().get('first')).toBe(77);
    marker.raise('source', 1001);
    expect(readFileSync(path, 'utf8')).toContain('1001 source .\n');
  });

  it('The marker keeps its values after a crash in the middle of a rewrite', () => {
    writeFileSync(path, lines(20_000));
    writeFileSync(`${path}.new`, '1 sou');
    const marker = openPath();
    expect(statSync(path).size).toBeGreaterThan(100_000);
    expect(marker.read().get('source')).toBe(20_000);
  });
});
