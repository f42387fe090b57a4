/**
 * Protects `npm ci` from strangers: each package by its hash, and no program at installation that is not listed here.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { billOfMaterials } from '../../scripts/sbom.mjs';

interface Locked {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')) as Record<string, unknown>;
const locked = Object.entries(read('package-lock.json')['packages'] as Record<string, Locked>).filter(
  ([path]) => path.includes('node_modules/'),
);

/** Programs that run during `npm ci`, and why. */
const installScripts: Readonly<Record<string, string>> = {
  'better-sqlite3': 'fetches SQLite for this Node, or compiles it; the only one in production',
  '@foundry-rs/anvil': 'checks that the binary of this platform is there; for tests',
  esbuild: 'checks the binary of this platform; for tests in the browser',
  'rs-module-lexer': 'picks the binary of this platform; for tests in the browser',
};

/** anvil for machines that the lock file was not made on. npm writes no hash of a package that it could not fetch. */
const withoutHash = ['darwin-amd64', 'darwin-arm64', 'linux-arm64', 'win32-amd64'].map(
  (platform) => `node_modules/@foundry-rs/anvil-${platform}`,
);

it('every package has its hash, but the test node of other platforms', () => {
  const bare = locked.filter(([, { integrity, link, inBundle }]) => !integrity && !link && !inBundle);
  expect(bare.map(([path]) => path)).toEqual(withoutHash);
  for (const [path, { integrity }] of locked) {
    if (integrity !== undefined) expect(integrity, path).toMatch(/^sha512-/);
  }
  expect(bare.filter(([, { dev }]) => dev !== true)).toEqual([]);
});

it('only the listed packages run a program when they are installed, and one of them in production', () => {
  const scripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  expect(scripts.map(([path]) => nameOf(path)).sort()).toEqual(Object.keys(installScripts).sort());
  expect(scripts.filter(([, { dev }]) => dev !== true).map(([path]) => nameOf(path))).toEqual([
    'better-sqlite3',
  ]);
  const allowed = Object.keys(read('package.json')['allowScripts'] as object);
  expect(allowed.sort()).toEqual(Object.keys(installScripts).sort());
});

it('the list of packages in a release names those of production and of the widget, with their hashes', () => {
  const lock = read('package-lock.json') as unknown as Parameters<typeof billOfMaterials>[1];
  const { components } = billOfMaterials({ name: 'crypto-checkout-server', version: '1.0.0' }, lock);
  const names = components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['better-sqlite3', 'express', 'pg', 'lit', 'zod']));
  expect(names).not.toContain('vitest');
  const express = components.find(({ name }) => name === 'express');
  expect(express?.purl).toMatch(/^pkg:npm\/express@5\./);
  const { integrity = '' } = Object.fromEntries(locked)['node_modules/express'] ?? {};
  const [hash] = express?.hashes ?? [];
  expect(`sha512-${Buffer.from(hash?.content ?? '', 'hex').toString('base64')}`).toBe(integrity);
  expect(components.filter(({ hashes = [] }) => hashes.length === 0)).toEqual([]);
});
