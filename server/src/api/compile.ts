/** Compiles a schema when it is first used, and once for all paths and servers: compiling all of them takes most of a start. */
import * as z from 'zod/mini';

const compiled = new WeakMap<z.ZodMiniType, z.ZodMiniType>();

/** Parses like the schema itself, and faster. */
export function safeParse<T extends z.ZodMiniType>(schema: T, value: unknown): ReturnType<T['safeParse']> {
  let fast = compiled.get(schema) as T | undefined;
  if (!fast) {
    fast = z.compile(schema);
    compiled.set(schema, fast);
  }
  return fast.safeParse(value) as ReturnType<T['safeParse']>;
}
