/** Reads the files that an operator wrote. Messages say where a mistake is, and never quote the text: it may hold secrets. */
import { readFileSync } from 'node:fs';
import jsonc, { type ParseError } from 'jsonc-parser';

/** @throws if it cannot be read */
export function readOperatorFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    const reason =
      code === 'ENOENT' ? 'it does not exist' : code === 'EACCES' ? 'this user may not' : String(code);
    throw new Error(`the file cannot be read: ${reason}`, { cause: error });
  }
}

/** The sentence about an error, by its name in jsonc-parser. */
const expected: Readonly<Record<string, string>> = {
  PropertyNameExpected: 'a name in double quotes is expected',
  ValueExpected: 'a value is expected',
  ColonExpected: 'a colon is expected',
  CommaExpected: 'a comma is expected',
  CloseBraceExpected: 'a } is expected',
  CloseBracketExpected: 'a ] is expected',
  EndOfFileExpected: 'nothing more is expected',
  InvalidCommentToken: 'JSON has no comments',
  UnexpectedEndOfString: 'the string has no end',
  InvalidSymbol: 'names and strings need double quotes',
};

/** @throws with the line and the column of the first mistake */
export function parseOperatorJson(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = jsonc.parse(text, errors, { disallowComments: true });
  const [first] = errors;
  if (!first) return value;
  const before = text.slice(0, first.offset);
  const lines = before.split('\n');
  const place = `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
  const isTrailingComma =
    before.trimEnd().endsWith(',') && /^\s*[}\]]/.test(text.slice(first.offset, first.offset + 100));
  const what = isTrailingComma
    ? 'remove the comma before this bracket'
    : (expected[jsonc.printParseErrorCode(first.error)] ?? 'this is not JSON');
  throw new Error(`${place}: ${what}`);
}
