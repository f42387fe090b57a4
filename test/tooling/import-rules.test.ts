/** Each import rule bites: a small tree breaks every one of them once, and each break is found where it is. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Rule {
  readonly name: string;
}

interface Violation {
  readonly rule: Rule;
  readonly from: string;
}

const require = createRequire(import.meta.url);
const root = resolve(import.meta.dirname, '../..');
const cruiser = join(root, 'node_modules/.bin/depcruise');
const configPath = join(root, '.dependency-cruiser.cjs');
const { forbidden } = require(configPath) as { forbidden: Rule[] };

/** Rule → the file that breaks it and what it imports. */
const breaks: Record<string, [file: string, imported: string]> = {
  contract: ['src/contract/a.ts', 'lit'],
  state: ['src/checkout/state.ts', '../client/a.js'],
  views: ['src/views/a.ts', '../client/a.js'],
  'views-types': ['src/views/b.ts', '../contract/a.js'],
  wallets: ['src/browser-wallets/a.ts', '../client/a.js'],
  'transfer-check': ['src/transfer-check/a.ts', '../checkout/controller.js'],
  money: ['src/money/a.ts', '../checkout/state.js'],
  messages: ['src/messages/a.ts', '../checkout/state.js'],
  client: ['src/client/a.ts', '../checkout/state.js'],
  controller: ['src/checkout/controller.ts', '../views/a.js'],
  element: ['src/flow.ts', './crypto-checkout.js'],
  'server-elements': ['server/src/a.ts', '../../src/crypto-checkout.js'],
  'server-client': ['server/src/core/payments/a.ts', '../../../../src/client/a.js'],
  'no-server': ['src/b.ts', '../server/src/app.js'],
  claim: ['claim/a.ts', '../src/checkout/state.js'],
  console: ['console/a.ts', '../src/checkout/state.js'],
  demo: ['demo/a.ts', '../src/checkout/state.js'],
  'demo-server': ['demo/merchant-server/a.ts', '../../src/index.js'],
  express: ['server/src/core/payments/b.ts', 'express'],
  engines: ['server/src/core/payments/c.ts', 'pg'],
  assembly: ['server/src/core/payments/d.ts', '../core.js'],
  api: ['server/src/core/site/a.ts', '../api/a.js'],
  handlers: ['server/src/core/payments/transaction-handlers.ts', './receipt-store.js'],
  rules: ['server/src/core/payments/e.ts', '../ops/a.js'],
  'own-store': ['server/src/core/payments/f.ts', '../merchants/key-store.js'],
  rpc: ['server/src/modules/networks/rpc/a.ts', '../../../core/payments/a.js'],
  chains: ['server/src/core/chains/a.ts', '../scanning/a.js'],
  'chains-database': ['server/src/modules/networks/evm/a.ts', '../../../core/db/a.js'],
  core: ['server/src/core/site/b.ts', '../../modules/docs-site/docs.js'],
  modules: ['server/src/modules/books/a.ts', '../restore/restore.js'],
  'module-doors': ['server/src/modules.ts', './modules/books/books.js'],
  audit: ['server/src/core/payments/g.ts', '../audit/a.js'],
  ledger: ['server/src/core/ledger/a.ts', '../payments/a.js'],
  shared: ['server/src/core/shared/a.ts', '../payments/a.js'],
  tests: ['src/c.ts', '../scripts/a.mjs'],
  dependencies: ['src/d.ts', 'vitest'],
  unresolvable: ['src/e.ts', './nowhere.js'],
  cycles: ['src/f.ts', './g.js'],
  // A module that requires others imports no further one.
  ...Object.fromEntries(
    forbidden.flatMap(({ name }): [string, [string, string]][] => {
      const [, module] = /^module-(?!doors$)(.+)$/.exec(name) ?? [];
      return module === undefined
        ? []
        : [[name, [`server/src/modules/${module}/a.ts`, '../restore/restore.js']]];
    }),
  ),
};

/** Further files, which break no rule. */
const rest: Record<string, string> = {
  'package.json': JSON.stringify({
    dependencies: { lit: '*', express: '*', pg: '*' },
    devDependencies: { vitest: '*' },
  }),
  ...Object.fromEntries(
    ['lit', 'express', 'pg', 'vitest'].flatMap((name) => [
      [`node_modules/${name}/package.json`, JSON.stringify({ name, main: 'index.js' })],
      [`node_modules/${name}/index.js`, ''],
    ]),
  ),
  'src/crypto-checkout.ts': '',
  'src/g.ts': "import './f.js';",
  'server/src/app.ts': '',
  'server/src/core/core.ts': '',
  'server/src/modules/books/books.ts': '',
  'server/src/modules/networks/evm/nodes.ts': '',
  'server/src/modules/treasury/requires.ts': "import '../networks/evm/nodes.js';",
  'server/src/modules/docs-site/docs.ts': '',
  'server/src/modules/restore/restore.ts': '',
  'server/src/core/api/a.ts': '',
  'server/src/core/ops/a.ts': '',
  'server/src/core/audit/a.ts': '',
  'server/src/core/scanning/a.ts': '',
  'server/src/core/db/a.ts': '',
  'server/src/core/merchants/key-store.ts': '',
  'server/src/core/payments/receipt-store.ts': '',
  'scripts/a.mjs': '',
  'src/views/types.ts': "import type { A } from '../contract/a.js';",
  'server/src/core/commands/types.ts': "import type { App } from '../core.js';",
};

describe('the import rules', () => {
  let directory: string;
  let violations: Violation[];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-imports-'));
    const files = { ...rest };
    for (const [file, imported] of Object.values(breaks)) files[file] = `import '${imported}';`;
    for (const [file, text] of Object.entries(files)) {
      await mkdir(join(directory, dirname(file)), { recursive: true });
      await writeFile(join(directory, file), text);
    }
    const args = [
      '--config',
      configPath,
      '--output-type',
      'json',
      'src',
      'server/src',
      'demo',
      'claim',
      'console',
      'scripts',
    ];
    const { stdout } = await promisify(execFile)(cruiser, args, { cwd: directory }).catch(
      // It leaves with the number of violations.
      (error: unknown) => error as { stdout: string },
    );
    violations = (JSON.parse(stdout) as { summary: { violations: Violation[] } }).summary.violations;
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('Every import rule has a break below', () => {
    expect(forbidden.map(({ name }) => name).sort()).toEqual(Object.keys(breaks).sort());
  });

  it.each(Object.entries(breaks))('%s refuses what breaks it', (name, [file]) => {
    expect(violations.filter(({ rule }) => rule.name === name).map(({ from }) => from)).toContain(file);
  });

  it('Types pass where only values are refused', () => {
    const files = violations.map(({ from }) => from);
    expect(files).not.toContain('server/src/modules/treasury/requires.ts');
    expect(files).not.toContain('src/views/types.ts');
    expect(files).not.toContain('server/src/core/commands/types.ts');
  });
});
