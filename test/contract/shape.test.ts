/** A page's parser of replies agrees with the zod schemas of the same shapes, which servers and docs use. */
import { expect, it } from 'vitest';
import * as schemas from '../../src/contract/checkout-schemas.js';
import * as shapes from '../../src/contract/checkout.js';
import { payments } from '../../src/contract/payments.js';
import { parseShape, type ShapeError } from '../../src/contract/shape.js';
import { transactions } from '../../src/contract/transactions.js';

const json = (value: unknown) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
const samples = [
  payments.retrieve,
  payments.setCurrency,
  payments.lockCurrency,
  transactions.verifyCheckout,
].map(({ sample }) => json(sample.data));
const wrong = [undefined, null, '', 'other', 0, Infinity, Number.NaN, true, [], [null], {}, { id: 1 }];

/** The sample with each of its places, at any depth, replaced by each of the values. */
function* broken(value: unknown, put: (value: unknown) => unknown): Generator {
  for (const other of wrong) yield put(other);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    yield* broken(inner, (other) =>
      put(Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other }),
    );
  }
}

function outcomeOf(value: unknown): unknown {
  try {
    return { data: parseShape(shapes.payment, value) };
  } catch (error) {
    return { path: (error as ShapeError).path };
  }
}

function schemaOutcomeOf(value: unknown): unknown {
  const parsed = schemas.payment.safeParse(value);
  return parsed.success ? { data: parsed.data } : { path: parsed.error.issues[0]?.path.join('.') };
}

it('The page’s parser accepts and refuses the same as the schema, names the same place, and drops unknown fields', () => {
  const values = samples.flatMap((sample) => [sample, ...broken(sample, (value) => value)]);
  expect(values.length).toBeGreaterThan(1000);
  for (const value of values) expect(outcomeOf(value)).toEqual(schemaOutcomeOf(value));
  expect(outcomeOf({ ...samples[0], secret: 1 })).toEqual(outcomeOf(samples[0]));
});
