/**
 * The shapes of the replies that a page reads, and their parser. A shape is plain data: a page would load 4.5 kB of zod to check
 * the same. schema-of.ts makes zod schemas of shapes, for servers and for the documentation.
 */
export interface OneOf<Value extends string = string> {
  readonly oneOf: readonly Value[];
}
export interface ListOf<Item extends Shape = Shape> {
  readonly each: Item;
}
export type Fields = Readonly<Record<string, Shape>>;
export interface ObjectOf<F extends Fields = Fields> {
  readonly fields: F;
}
export interface Optional<Inner extends Shape = Shape> {
  readonly optional: Inner;
}

export type Shape = 'string' | 'number' | 'boolean' | OneOf | ListOf | ObjectOf | Optional;

type Flat<T> = { [Key in keyof T]: T[Key] };
type OptionalName<F extends Fields> = { [Name in keyof F]: F[Name] extends Optional ? Name : never }[keyof F];

/** The type of a shape's value. */
export type Output<S extends Shape> = S extends 'string'
  ? string
  : S extends 'number'
    ? number
    : S extends 'boolean'
      ? boolean
      : S extends OneOf<infer Value>
        ? Value
        : S extends ListOf<infer Item>
          ? Output<Item>[]
          : S extends Optional<infer Inner>
            ? Output<Inner> | undefined
            : S extends ObjectOf<infer F>
              ? Flat<
                  { -readonly [Name in Exclude<keyof F, OptionalName<F>>]: Output<F[Name]> } & {
                    -readonly [Name in OptionalName<F>]?: Output<F[Name]>;
                  }
                >
              : never;

export const string = 'string';
export const number = 'number';
export const boolean = 'boolean';
export const oneOf = <const Value extends string>(oneOf: readonly Value[]): OneOf<Value> => ({ oneOf });
export const array = <Item extends Shape>(each: Item): ListOf<Item> => ({ each });
export const optional = <Inner extends Shape>(optional: Inner): Optional<Inner> => ({ optional });
export const object = <F extends Fields>(fields: F): ObjectOf<F> => ({ fields });

/** A value that does not match its shape. */
export class ShapeError extends Error {
  /** The place of the value, such as `data.status`; empty for the value as a whole. */
  readonly path: string;

  constructor(path: string, options?: ErrorOptions) {
    super(`Unexpected ${path || 'body'}`, options);
    this.path = path;
  }
}

/**
 * Checks a value that came as JSON. Fields that the shape does not name are left out.
 *
 * @throws ShapeError at the first place that does not fit
 */
export function parseShape<S extends Shape>(shape: S, value: unknown, path = ''): Output<S> {
  return parse(shape, value, path) as Output<S>;
}

function parse(shape: Shape, value: unknown, path: string): unknown {
  if (typeof shape === 'string') {
    // JSON can hold numbers that are too large: 1e999 is read as infinite.
    if (typeof value === shape && (shape !== 'number' || Number.isFinite(value))) return value;
  } else if ('oneOf' in shape) {
    if (shape.oneOf.includes(value as string)) return value;
  } else if ('optional' in shape) {
    return value === undefined ? value : parse(shape.optional, value, path);
  } else if ('each' in shape) {
    if (Array.isArray(value)) return value.map((item, index) => parse(shape.each, item, `${path}.${index}`));
  } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const parsed: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(shape.fields)) {
      const own = parse(field, (value as Record<string, unknown>)[name], path ? `${path}.${name}` : name);
      if (own !== undefined) parsed[name] = own;
    }
    return parsed;
  }
  throw new ShapeError(path);
}
