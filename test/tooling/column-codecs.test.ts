/** The lint rules that keep codecs the only readers of stored JSON and amounts. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ESLint, Linter } from 'eslint';
import { describe, expect, it } from 'vitest';
import { parsersOfForeignJson } from '../../eslint.config.mjs';

const root = resolve(import.meta.dirname, '../..');
const eslint = new ESLint({ cwd: root });

/** Lints a line with the syntax rule of a file, without the rules that need types. */
async function problemsOf(code: string, file: string): Promise<string[]> {
  const config: unknown = await eslint.calculateConfigForFile(resolve(root, file));
  const { rules } = config as { rules: Linter.RulesRecord };
  const rule = rules['no-restricted-syntax'] ?? 'off';
  return new Linter().verify(code, { rules: { 'no-restricted-syntax': rule } }).map(({ message }) => message);
}

const parse = 'JSON.parse(row.metadata);';

describe('BigInt of a row', () => {
  const byHand = [
    'BigInt(row.amount);',
    'BigInt(fee);',
    'one.is_held === 1;',
    '({ may_settle: able ? 1 : 0 });',
  ];
  const rooms = [
    'modules/refunds/view.ts',
    'core/payments/view.ts',
    'core/payments/receipts/record.ts',
    'core/scanning/scanner.ts',
  ];
  it.each(rooms.flatMap((room) => byHand.map((code) => [room, code] as const)))(
    'A conversion by hand is refused, because stores give bigints and booleans: in %s, %s',
    async (room, code) => {
      const problems = await problemsOf(code, `server/src/${room}`);
      expect(problems).toEqual([expect.stringContaining('valuesOf')]);
    },
  );

  it('BigInt is allowed in codecs and parsers of replies, and on values that are not rows', async () => {
    for (const file of ['core/db/codecs.ts', 'modules/networks/tron/tron-dialect.ts']) {
      expect(await problemsOf('BigInt(row.amount);', `server/src/${file}`)).toEqual([]);
    }
    expect(
      await problemsOf('BigInt(text); BigInt(reply.result);', 'server/src/modules/refunds/view.ts'),
    ).toEqual([]);
  });
});

describe('JSON.parse', () => {
  it.each(['server/src/core/payments/view.ts', 'server/src/app.ts', 'server/src/core/api/kept-reply.ts'])(
    'JSON.parse is refused in %s',
    async (file) => {
      expect(await problemsOf(parse, file)).toEqual([expect.stringContaining('json(shape)')]);
    },
  );

  it.each([
    'server/src/core/db/codecs.ts',
    'server/src/modules/networks/rpc/node-client.ts',
    'src/client/index.ts',
  ])('JSON.parse is allowed in %s', async (file) => {
    expect(await problemsOf(parse, file)).toEqual([]);
  });

  it('JSON.parse is in each file that is named as a parser', () => {
    for (const file of parsersOfForeignJson) {
      expect(readFileSync(resolve(root, file), 'utf8'), file).toContain('JSON.parse(');
    }
  });
});
