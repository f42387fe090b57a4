/** Codecs of columns: each writes a value into a column and reads it from there, so that no other code needs a cast. */
import * as z from 'zod/mini';
import { compiled } from './compiled.js';

/** A `T` that is stored as an `S`. */
export interface Codec<T, S> {
  /** @throws if the stored value does not have the written form */
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

/** A subset of a few names, as the bits of a number in the order of the names. New names are only added at the end. */
export const setCodec = <Name extends string>(names: readonly Name[]): Codec<readonly Name[], number> => ({
  read: (stored) => names.filter((name) => (stored & bitOf(names, name)) !== 0),
  write: (some) => names.reduce((bits, name) => (some.includes(name) ? bits | bitOf(names, name) : bits), 0),
});

export const bitOf = <Name extends string>(names: readonly Name[], name: Name): number =>
  1 << names.indexOf(name);

/** Integers of any size as text. */
export const unitsCodec: Codec<bigint, string> = { read: BigInt, write: String };

export const flagCodec: Codec<boolean, 0 | 1> = {
  read: (stored) => stored === 1,
  write: (is) => (is ? 1 : 0),
};

export const stringRecord = z.record(z.string(), z.string());
export const strings = z.readonly(z.array(z.string()));
/** A JSON object of anything. */
export const fields = z.record(z.string(), z.unknown());

/**
 * A stored value does not have the form of its column. The error names the place, and never the value, which may be
 * anyone's data.
 */
export class WrongForm extends Error {
  override readonly name = 'WrongForm';
}

/** A codec whose errors name the place of the value. @param place `table.column`, or what else it is called */
export const placed = <T, S>(place: string, codec: Codec<T, S>): Codec<T, S> => {
  const wrong = (what: string) =>
    new WrongForm(`${place}: ${what} is not of the form that is declared for it`);
  return {
    read(stored) {
      try {
        return codec.read(stored);
      } catch {
        throw wrong('a stored value');
      }
    },
    write(value) {
      try {
        return codec.write(value);
      } catch {
        throw wrong('a value to be stored');
      }
    },
  };
};

/** Text that is JSON of a shape. Properties that the shape does not name are not stored. */
export const jsonCodec = <T, Stored>(shape: z.ZodMiniType<T, Stored>): Codec<T, string> => ({
  read: (stored) => compiled(shape).parse(JSON.parse(stored)),
  write: (value) => JSON.stringify(z.encode(shape, value)),
});
