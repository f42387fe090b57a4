/** Finds in the sources which room writes which table: by Kysely's builder, by `sql` templates and by prepared statements. */
import ts from 'typescript';

export interface Write {
  readonly file: string;
  readonly line: number;
  /** Undefined if it is not a name in the source, so that any table could be written. */
  readonly table: string | undefined;
}

const builders = new Set([
  ...['insertInto', 'updateTable', 'deleteFrom', 'mergeInto', 'replaceInto'],
  // Of db/rows.ts.
  ...['insertRow', 'updateRow'],
  // Of db/prepared.ts.
  'preparedInserts',
]);
const rawWrite =
  /\b(?:insert\s+into|delete\s+from|truncate(?:\s+table)?|merge\s+into|(?<!for\s|before\s|after\s|or\s|do\s)update(?!\s+(?:of|or|on|skip|set)\b))\s+["`]?([a-z_]+|\0)/gi;

/** @param file relative to the folder of the rooms */
export function findWrites(file: string, text: string): Write[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const writes: Write[] = [];
  const add = (node: ts.Node, table: string | undefined) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    writes.push({ file, line: line + 1, table });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const [table] = node.arguments;
      const { expression } = node;
      const name = ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();
      if (builders.has(name)) add(node, table && ts.isStringLiteralLike(table) ? table.text : undefined);
    }
    // An interpolation is written as \0: a table's name that the source does not show.
    if (ts.isTaggedTemplateExpression(node) && /^sql\b/.test(node.tag.getText())) {
      const { template } = node;
      const raw = ts.isTemplateExpression(template)
        ? [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)].join('\0')
        : template.text;
      for (const [, table] of raw.matchAll(rawWrite)) add(node, table === '\0' ? undefined : table);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return writes;
}

/** The folder that a file is in; a file outside the rooms is a room of its own. */
export const roomOf = (file: string): string => file.split('/')[0] ?? file;

/**
 * Lists writes that break the rule that one room writes a table. @param everywhere files and folders that may write the
 * tables of all rooms
 */
export function brokenRules(writes: readonly Write[], everywhere: readonly string[]): string[] {
  const counted = writes.filter(
    ({ file }) => !everywhere.some((place) => file === place || file.startsWith(`${place}/`)),
  );
  const rooms = new Map<string, Map<string, string>>();
  const broken: string[] = [];
  for (const { file, line, table } of counted) {
    const place = `${file}:${line}`;
    if (table === undefined) {
      broken.push(`${place} writes a table that the source does not name`);
      continue;
    }
    const writers = rooms.get(table) ?? new Map<string, string>();
    rooms.set(table, writers);
    if (!writers.has(roomOf(file))) writers.set(roomOf(file), place);
  }
  for (const [table, writers] of rooms) {
    if (writers.size > 1) broken.push(`${table} is written by ${[...writers.values()].join(' and ')}`);
  }
  return broken;
}
