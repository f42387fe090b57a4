/** Lists an endpoint's parameters, read from its schemas. */
import type { Endpoint } from 'crypto-checkout/contract';
import * as z from 'zod/mini';

export type Place = 'path' | 'query' | 'body';

export interface Parameter {
  /** Nested fields use dots: `customer.email`. */
  readonly name: string;
  readonly place: Place;
  /** For people to read: `number`, `integer`, `text`, `array of text`, `one of hourly, daily`. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
  /** The schema of the values that a client may send. */
  readonly schema: JsonSchema;
}

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The JSON Schema of a client's input. */
export function inputSchema(schema: z.ZodMiniType): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', override: preferAlternatives });
  return json;
}

/** A field that describes its alternatives needs no list of their types. */
function preferAlternatives({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if (jsonSchema.anyOf) delete jsonSchema.type;
}

/** Path parameters first, then query, then body; each in the order of declaration. */
export function parametersOf({ params, query, body }: Endpoint): Parameter[] {
  const parts = { path: params, query, body };
  return (Object.keys(parts) as Place[]).flatMap((place) => {
    const schema = parts[place];
    return schema ? namedFields(inputSchema(schema), place) : [];
  });
}

function namedFields({ properties = {}, required = [] }: JsonSchema, place: Place, prefix = ''): Parameter[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    if (typeof field === 'boolean') return [];
    const parameter = {
      name: prefix + name,
      place,
      type: typeName(field),
      isRequired: required.includes(name),
      description: field.description ?? '',
      schema: field,
    };
    return [parameter, ...namedFields(field, place, `${prefix}${name}.`)];
  });
}

/** Names the type without its text form: the docs say once that numbers and booleans may be sent as text. */
function typeName(schema: JsonSchema): string {
  const { type, anyOf = [], items, enum: values } = schema;
  if (values) return `one of ${values.join(', ')}`;
  if (type === 'array') {
    return typeof items === 'object' && !Array.isArray(items) ? `array of ${typeName(items)}` : 'array';
  }
  // A field that null empties is a choice between its own type and null.
  const options = anyOf.filter((option) => typeof option === 'object');
  const types = new Set([type, ...options.flatMap((option) => [option.type, ...nested(option)])].flat());
  for (const known of ['boolean', 'number', 'integer', 'object'] as const) if (types.has(known)) return known;
  return 'text';
}

const nested = ({ anyOf = [] }: JsonSchema) =>
  anyOf.map((option) => (typeof option === 'object' ? option.type : undefined));
