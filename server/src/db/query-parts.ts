/**
 * SQL of modules in queries of the core, about their own tables, where asking each module would cost a statement more. It
 * belongs to the database's handles, as the tables do.
 */
import type { Reader } from './engine.js';

/** Rooms of the core extend it, with `declare module`, where they ask. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- extended elsewhere
export interface QueryParts {}

const parts = new WeakMap<object, readonly QueryParts[]>();
const none: readonly QueryParts[] = [];

/** Transactions and snapshots of a handle have its adapter. */
const keyOf = (reader: Reader): object => reader.getExecutor().adapter;

export function addQueryParts(reader: Reader, added: readonly QueryParts[]): void {
  parts.set(keyOf(reader), added);
}

/** Those of each module, in the order of the product's list. */
export const queryPartsOf = (reader: Reader): readonly QueryParts[] => parts.get(keyOf(reader)) ?? none;
