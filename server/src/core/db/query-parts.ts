/**
 * SQL of modules in queries of the core, about their own tables, where asking each module would cost a statement more. It
 * belongs to the database's handles, as the tables do.
 */
import type { Reader } from './engine.js';
import type { Tables } from './table.js';

/** The rooms that ask extend it, with `declare module`. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- extended elsewhere
export interface QueryParts {}

/** A table of a module that the server no longer has, with the names of its columns. */
export interface LeftTable {
  readonly name: string;
  readonly columns: readonly string[];
}

interface Facts {
  readonly tables: Tables;
  readonly leftTables?: readonly LeftTable[];
  /** The parts that modules add, in the order of the product's list. */
  readonly queryParts: readonly QueryParts[];
}

const known = new WeakMap<object, Facts>();
const none: Facts = { tables: {}, queryParts: [] };

/** Transactions and snapshots of a handle have its adapter. */
const keyOf = (reader: Reader): object => reader.getExecutor().adapter;

export const describeHandle = (reader: Reader, facts: Facts): void => void known.set(keyOf(reader), facts);

const factsOf = (reader: Reader): Facts => known.get(keyOf(reader)) ?? none;
export const queryPartsOf = (reader: Reader): readonly QueryParts[] => factsOf(reader).queryParts;
/** The tables of its database. */
export const tablesOf = (reader: Reader): Tables => factsOf(reader).tables;
/** As they were when the database was opened. */
export const leftTablesOf = (reader: Reader): readonly LeftTable[] => factsOf(reader).leftTables ?? [];
