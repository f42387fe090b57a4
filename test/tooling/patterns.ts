/** All patterns of the sources, and the texts that take each of them longest: long ones made of its own parts. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { RegExpParser, type AST } from '@eslint-community/regexpp';
import ts from 'typescript';

export interface SourcePattern {
  /** The first place: `src/errors.ts:12`. */
  readonly place: string;
  readonly file: string;
  readonly source: string;
  readonly flags: string;
  /** True if it splits a text, so that all of its matches are searched for. */
  readonly isSplitter: boolean;
}

/** Each folder's sources. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|mjs)$/.test(file) && !file.startsWith('dist'))
    .map((file) => join(folder, file));
}

/** Every pattern that is written in the folders, once, and the places where one is put together at run time. */
export function readPatterns(root: string, folders: readonly string[]) {
  const patterns = new Map<string, SourcePattern>();
  const madeAtRunTime: string[] = [];
  for (const path of folders.flatMap((folder) => filesIn(join(root, folder)))) {
    const file = relative(root, path);
    const tree = ts.createSourceFile(file, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/');
        const [source, flags] = [node.text.slice(1, end), node.text.slice(end + 1)];
        const place = `${file}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
        const isSplitter =
          ts.isCallExpression(node.parent) && node.parent.expression.getText().endsWith('.split');
        const key = `${node.text} ${isSplitter}`;
        if (!patterns.has(key)) patterns.set(key, { place, file, source, flags, isSplitter });
      }
      const isMade =
        (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp';
      if (isMade) madeAtRunTime.push(`${file}: ${node.getText()}`);
      ts.forEachChild(node, visit);
    };
    visit(tree);
  }
  return { patterns: [...patterns.values()], madeAtRunTime };
}

const characters = [
  ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)),
  ...['\n', '\t', '\0', 'é', '中', '\u202e', '\u00a0'],
];

type Atom = AST.Character | AST.CharacterClass | AST.CharacterSet;

/** Characters that an atom takes, as different as it has them, and one that it does not. */
function samplesOf(atom: Atom, flags: string): { taken: string[]; other: string } {
  const one = new RegExp(`^(?:${atom.raw})$`, flags.replace(/[gy]/g, ''));
  const taken = characters.filter((character) => one.test(character));
  const other = characters.findLast((character) => !one.test(character)) ?? '';
  const ofWords = taken.filter((character) => /\w/.test(character));
  const ofNone = taken.filter((character) => /\W/.test(character));
  const different = [ofWords.at(-1), ofNone.at(-1), ofWords[0]].filter(
    (character) => character !== undefined,
  );
  return { taken: [...new Set(different)], other };
}

/** The steps of a pattern: each atom with a text that leads up to it. */
function stepsOf(alternatives: readonly AST.Alternative[], flags: string): { before: string; atom: Atom }[] {
  const steps: { before: string; atom: Atom }[] = [];
  /** @returns a text that the element matches */
  const read = (element: AST.Element, before: string): string => {
    if (element.type === 'Quantifier') {
      const example = read(element.element, before);
      return example.repeat(Math.min(Math.max(element.min, 1), 80));
    }
    if (element.type === 'Group' || element.type === 'CapturingGroup')
      return readAll(element.alternatives, before);
    if (element.type === 'Assertion') {
      if ('alternatives' in element) readAll(element.alternatives, before);
      return '';
    }
    if (
      element.type === 'Character' ||
      element.type === 'CharacterClass' ||
      element.type === 'CharacterSet'
    ) {
      steps.push({ before, atom: element });
      return samplesOf(element, flags).taken[0] ?? '';
    }
    return '';
  };
  const readAll = (of: readonly AST.Alternative[], before: string): string => {
    const examples = of.map(({ elements }) => {
      let example = '';
      for (const element of elements) example += read(element, before + example);
      return example;
    });
    return examples.find((example) => example !== '') ?? '';
  };
  readAll(alternatives, '');
  return steps;
}

/** Texts of about `length` characters that a pattern may take long for. */
export function hostileTexts({ source, flags }: SourcePattern, length: number): Set<string> {
  const { alternatives } = new RegExpParser().parsePattern(source, undefined, undefined, {
    unicode: flags.includes('u'),
  });
  const fill = (text: string) => text.repeat(Math.ceil(length / Math.max(1, text.length)));
  const texts = new Set<string>();
  const beginnings = new Set<string>();
  for (const { before, atom } of stepsOf(alternatives, flags)) {
    const { taken, other } = samplesOf(atom, flags);
    for (const one of taken) {
      texts
        .add(fill(one))
        .add(before + fill(one) + other)
        .add(other + fill(one) + other);
      beginnings.add(before + one);
    }
  }
  for (const beginning of beginnings) texts.add(fill(beginning)).add(`${fill(beginning)}\0`);
  return texts;
}
