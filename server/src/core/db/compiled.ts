/** Schemas as generated code, which parses several times faster than the schemas themselves. */
import * as z from 'zod/mini';

const found = new WeakMap<z.ZodMiniType, z.ZodMiniType>();

/**
 * Compiles a schema when it is first used, and once for all who use it: compiling all of them takes most of a start. Only
 * parsing is faster, not encoding.
 */
export function compiled<T extends z.ZodMiniType>(schema: T): T {
  let fast = found.get(schema) as T | undefined;
  if (!fast) {
    fast = z.compile(schema);
    found.set(schema, fast);
  }
  return fast;
}
