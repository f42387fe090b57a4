/** Fields that modules add to a payment's record. They are read with the payment, by SQL of the modules. */
import type { ModuleFields } from 'crypto-checkout/contract';
import type { SelectQueryBuilder } from 'kysely';
import type { Reader } from '../db/engine.js';
import { queryPartsOf } from '../db/query-parts.js';
import type { Schema } from '../db/schema.js';

export interface StoredField {
  readonly name: keyof ModuleFields;
  readonly value: string;
}

type FieldQuery = SelectQueryBuilder<Schema, 'payments', StoredField>;

declare module '../db/query-parts.js' {
  interface QueryParts {
    /** The fields of the payment in the query, of those that it has. */
    readonly paymentFields?: () => FieldQuery;
  }
}

/** Undefined on a server whose modules add none. */
export function fieldQuery(reader: Reader): FieldQuery | undefined {
  const [first, ...others] = queryPartsOf(reader).flatMap(({ paymentFields }) => paymentFields?.() ?? []);
  return others.reduce((all, next) => all?.unionAll(next), first);
}

export function readFields(stored: readonly StoredField[]): ModuleFields {
  return Object.fromEntries(stored.map(({ name, value }) => [name, value]));
}
