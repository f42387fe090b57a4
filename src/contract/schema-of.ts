/** Makes zod schemas of the shapes in checkout.ts, so that servers, docs and clients share the one definition. */
import * as z from 'zod/mini';
import type { Shape } from './shape.js';

type SchemaOf<S> = S extends 'string'
  ? z.ZodMiniString<string>
  : S extends 'number'
    ? z.ZodMiniNumber<number>
    : S extends 'boolean'
      ? z.ZodMiniBoolean<boolean>
      : S extends { readonly oneOf: readonly (infer Value extends string)[] }
        ? z.ZodMiniEnum<{ [Name in Value]: Name }>
        : S extends { readonly each: infer Item }
          ? z.ZodMiniArray<SchemaOf<Item>>
          : S extends { readonly optional: infer Inner }
            ? z.ZodMiniOptional<SchemaOf<Inner>>
            : S extends { readonly fields: infer F }
              ? z.ZodMiniObject<{ -readonly [Name in keyof F]: SchemaOf<F[Name]> }>
              : never;

export function schemaOf<const S extends Shape>(shape: S): SchemaOf<S> {
  return schema(shape) as SchemaOf<S>;
}

/** One schema for each shape: the documentation describes a schema that is used in several places once. */
const schemas = new WeakMap<object, z.ZodMiniType>();

function schema(shape: Shape): z.ZodMiniType {
  if (typeof shape === 'string') return primitive(shape);
  const made = schemas.get(shape) ?? compound(shape);
  schemas.set(shape, made);
  return made;
}

function primitive(shape: Extract<Shape, string>): z.ZodMiniType {
  if (shape === 'string') return z.string();
  if (shape === 'number') return z.number();
  return z.boolean();
}

function compound(shape: Exclude<Shape, string>): z.ZodMiniType {
  if ('oneOf' in shape) return z.enum(shape.oneOf);
  if ('each' in shape) return z.array(schema(shape.each));
  if ('optional' in shape) return z.optional(schema(shape.optional));
  return z.object(
    Object.fromEntries(Object.entries(shape.fields).map(([name, field]) => [name, schema(field)])),
  );
}
