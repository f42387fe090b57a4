/** The field types of requests: what each accepts, what it is parsed to, and what it rejects. */
import { describe, expect, it } from 'vitest';
import type * as z from 'zod/mini';
import {
  boolean,
  decimal,
  email,
  integer,
  listQuery,
  positiveDecimal,
  requiredText,
  text,
} from '../../src/contract/fields.js';

type Accepted = readonly [schema: z.ZodMiniType, given: unknown, expected: unknown];

const accepted: Record<string, readonly Accepted[]> = {
  text: [
    [text(), '', ''],
    [text(), ' Ada ', 'Ada'],
    [text(), 'a'.repeat(255), 'a'.repeat(255)],
    [text(100), 'a'.repeat(100), 'a'.repeat(100)],
    [requiredText(), ' x ', 'x'],
  ],
  email: [
    [email, 'ada@example.com', 'ada@example.com'],
    [email, ' ada@example.com ', 'ada@example.com'],
  ],
  decimal: [
    [decimal, 0, '0'],
    [decimal, 0.1, '0.1'],
    [decimal, '12.50', '12.5'],
    [decimal, 7e-7, '0.0000007'],
    [positiveDecimal, 7e-7, '0.0000007'],
    [positiveDecimal, '123456789012345', '123456789012345'],
  ],
  integer: [
    [integer(1), 1, 1],
    [integer(1), '25', 25],
    [integer(1), ' 7 ', 7],
    [integer(0, 10), 10, 10],
    [integer(-5), '-5', -5],
  ],
  boolean: [
    [boolean, true, true],
    [boolean, false, false],
    [boolean, 'true', true],
    [boolean, 'false', false],
  ],
};

type Refused = readonly [schema: z.ZodMiniType, given: unknown];

const refused: Record<string, readonly Refused[]> = {
  text: [
    [text(), 1],
    [text(), null],
    [text(), {}],
    [text(), 'a'.repeat(256)],
    [text(100), 'a'.repeat(101)],
    [requiredText(), ''],
    [requiredText(), '   '],
    [requiredText(20), 'a'.repeat(21)],
  ],
  email: [
    [email, ''],
    [email, 'ada'],
    [email, 'ada@'],
    [email, 'ada@example'],
    [email, 'ada@example.com, eve@example.com'],
    [email, `${'a'.repeat(243)}@example.com`],
  ],
  decimal: [
    [decimal, Number.NaN],
    [decimal, Number.POSITIVE_INFINITY],
    [decimal, -1],
    [decimal, '-0.5'],
    [decimal, 1e21],
    [decimal, '1234567890123456'],
    [decimal, `1${' '.repeat(40)}`],
    [positiveDecimal, 1e-300],
    [decimal, ''],
    [decimal, 'ten'],
    [decimal, null],
    [decimal, true],
    [decimal, [1]],
    [decimal, { amount: 1 }],
    [positiveDecimal, 0],
    [positiveDecimal, '0.00'],
    [positiveDecimal, undefined],
  ],
  integer: [
    [integer(1), 0],
    [integer(1), '0'],
    [integer(1), 1.5],
    [integer(1), '1.5'],
    [integer(1), ''],
    [integer(1), 'two'],
    [integer(1), '1e3'],
    [integer(1), Number.NaN],
    [integer(1), 2 ** 53],
    [integer(1), '99999999999999999999'],
    [integer(0, 10), 11],
    [integer(1), true],
    [integer(1), ['1']],
  ],
  boolean: [
    [boolean, 'TRUE'],
    [boolean, 'yes'],
    [boolean, ''],
    [boolean, 1],
    [boolean, 0],
    [boolean, null],
  ],
};

describe.each(Object.entries(accepted))('%s', (_, cases) => {
  it.each(cases)('Valid value %# is accepted and parsed', (schema, given, expected) => {
    expect(schema.parse(given)).toBe(expected);
  });
});

describe.each(Object.entries(refused))('%s', (_, cases) => {
  it.each(cases)('Invalid value %# is rejected with a reason', (schema, given) => {
    const { success, error } = schema.safeParse(given);
    expect(success).toBe(false);
    expect(error?.issues.length).toBeGreaterThan(0);
  });
});

describe('the query of a list', () => {
  const query = listQuery({});

  it('The query of a list defaults to the first page with 25 rows', () => {
    expect(query.parse({})).toEqual({ page: 1, skip: 25 });
  });

  it.each([
    ['1', 1],
    ['100', 100],
    ['101', 100],
    ['5000', 100],
  ])('skip=%s gives %d rows per page', (skip, rows) => {
    expect(query.parse({ skip }).skip).toBe(rows);
  });

  it.each([
    { page: '0' },
    { page: '-1' },
    { page: 'x' },
    { page: '1.5' },
    { page: '' },
    { page: ['1', '2'] },
  ])('The query %j is rejected at its page', (given) => {
    expect(query.safeParse(given).error?.issues[0]?.path).toEqual(['page']);
  });

  it.each([{ skip: '0' }, { skip: '-5' }, { skip: 'all' }, { skip: '2.5' }])(
    'The query %j is rejected at its skip',
    (given) => {
      expect(query.safeParse(given).error?.issues[0]?.path).toEqual(['skip']);
    },
  );

  it.each<[value: string, from: string, to: string]>([
    ['2026-01-31', '2026-01-31T00:00:00.000Z', '2026-01-31T23:59:59.999Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z', '2024-02-29T23:59:59.999Z'],
    ['2026-01-31T12:30Z', '2026-01-31T12:30:00.000Z', '2026-01-31T12:30:00.000Z'],
    ['2026-01-31T12:30:15.250Z', '2026-01-31T12:30:15.250Z', '2026-01-31T12:30:15.250Z'],
    ['2026-01-31T00:30:00+01:00', '2026-01-30T23:30:00.000Z', '2026-01-30T23:30:00.000Z'],
  ])('The time %s is accepted, and a date means the whole day', (value, from, to) => {
    expect(query.parse({ from: value, to: value })).toEqual({
      page: 1,
      skip: 25,
      from: Date.parse(from),
      to: Date.parse(to),
    });
  });

  it.each([
    '2026-02-30',
    '2026-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-04-31T12:00:00Z',
    '2026-02-30T00:00:00+01:00',
    '2026-01-31T25:00:00Z',
    '2026-01-31T12:00:00',
    '2026-1-1',
    '01/31/2026',
    'yesterday',
    '1767225600000',
    '',
  ])('The date %j is rejected', (from) => {
    expect(query.safeParse({ from }).error?.issues[0]?.path).toEqual(['from']);
  });

  it('A range that ends before it starts is rejected, but a single day is accepted', () => {
    expect(query.safeParse({ from: '2026-02-01', to: '2026-01-31' }).error?.issues[0]?.path).toEqual([
      'from',
    ]);
    expect(query.safeParse({ from: '2026-01-31', to: '2026-01-31' }).success).toBe(true);
  });
});
