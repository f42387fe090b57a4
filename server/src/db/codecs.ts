/** What columns stand for: how a value is written into a column and read from it, so that nothing that follows needs a cast. */
import * as z from 'zod/mini';

/** A `T` that is stored as an `S`. */
export interface Codec<T, S> {
  /** @throws if it is not what was written */
  read(stored: S): T;
  write(value: T): S;
}

/** Stored as it is. */
export const same = <T>(): Codec<T, T> => ({ read: (stored) => stored, write: (value) => value });

/** An integer of any size inside JSON, which has no such numbers: as text. */
export const unitsInJson = z.codec(z.string().check(z.regex(/^-?\d+$/)), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (value) => value.toString(),
});

/** Some of a few names, in their order, as the bits of a number. Names are only ever added at the end. */
export const setCodec = <Name extends string>(names: readonly Name[]): Codec<readonly Name[], number> => ({
  read: (stored) => names.filter((name) => (stored & bitOf(names, name)) !== 0),
  write: (some) => names.reduce((bits, name) => (some.includes(name) ? bits | bitOf(names, name) : bits), 0),
});

export const bitOf = <Name extends string>(names: readonly Name[], name: Name): number =>
  1 << names.indexOf(name);

/** Text that is JSON of a shape. What the shape does not name is not stored. */
export const jsonCodec = <T, Stored>(shape: z.ZodMiniType<T, Stored>): Codec<T, string> => ({
  read: (stored) => z.parse(shape, JSON.parse(stored)),
  write: (value) => JSON.stringify(z.encode(shape, value)),
});
