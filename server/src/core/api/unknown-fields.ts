/** Finds the fields of a body that its endpoint does not know, each with the field that was probably meant. */
import type { Endpoint } from 'crypto-checkout/contract';
import * as z from 'zod/mini';

/** A reply must not be much longer than its request. */
const most = 5;
const longest = 40;

/** @returns describes the unknown fields of a body for the developer of the caller; empty if all are known */
export function createFindUnknown({ body }: Endpoint): (sent: unknown) => string {
  if (!body) return () => '';
  const known = fieldsOf(body, '');
  const fields: Fields = {
    all: new Set(known),
    parents: new Set(known.map((path) => path.slice(0, Math.max(path.lastIndexOf('.'), 0)))),
  };
  const plain = (path: string) => path.replaceAll(/[^a-z\d]/gi, '').toLowerCase();
  const meant = (path: string) => {
    const last = plain(path.split('.').at(-1) ?? '');
    const found = known.find((one) => [one, one.split('.').at(-1) ?? ''].map(plain).includes(last));
    return found ? ` (did you mean ${found}?)` : '';
  };
  return (sent) => {
    const unknown = pathsOf(sent, '', fields).slice(0, most);
    if (unknown.length === 0) return '';
    return `Ignored, since this endpoint does not know it: ${unknown
      .map((path) => path.slice(0, longest) + meant(path))
      .join(', ')}`;
  };
}

function fieldsOf(schema: z.core.$ZodType, parent: string): string[] {
  const inner = schema instanceof z.ZodMiniOptional ? schema.def.innerType : schema;
  if (!(inner instanceof z.ZodMiniObject)) return [];
  return Object.entries(inner.def.shape).flatMap(([name, field]) => {
    const path = parent + name;
    return [path, ...fieldsOf(field, `${path}.`)];
  });
}

interface Fields {
  readonly all: ReadonlySet<string>;
  /** The fields that have fields of their own. */
  readonly parents: ReadonlySet<string>;
}

function pathsOf(sent: unknown, parent: string, fields: Fields): string[] {
  if (typeof sent !== 'object' || sent === null) return [];
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(sent)) {
    const path = parent + name;
    if (!fields.all.has(path)) unknown.push(path);
    else if (fields.parents.has(path)) unknown.push(...pathsOf(value, `${path}.`, fields));
  }
  return unknown;
}
