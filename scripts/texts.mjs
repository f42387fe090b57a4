/** The English of a file: its comments, test names, descriptions, messages and prose, each with its position. */
import { extname } from 'node:path';
import ts from 'typescript';

/**
 * A text has the same length as in the file: parts that are not English (comment marks, inline code) are blanked, so
 * that an index in it maps to a position in the file.
 *
 * @typedef {{ kind: 'comment' | 'title' | 'description' | 'message' | 'prose', start: number, text: string }} Text
 */

/** Replaces a text with spaces, and keeps its line breaks. @param {string} text */
const blank = (text) => text.replace(/[^\n]/g, ' ');

/** Replaces inline code with letters, so that it still counts as a word. @param {string} text */
const withoutCode = (text) => text.replace(/`[^`\n]+`/g, (code) => 'x'.repeat(code.length));

/** @param {string} text @returns {string} */
const withoutMarks = (text) =>
  withoutCode(text.replace(/^\s*(?:\/\*\*?|\/\/|\*\/|\*|#|<!--)|\*\/$|-->$/gm, blank));

/** Comments in the gap between two tokens, or in a file of another language. */
const comment = /\/\*[\s\S]*?\*\/|\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*/g;

/** @type {Record<string, RegExp>} */
const commentsOf = {
  '.sol': comment,
  '.c': comment,
  '.css': /\/\*[\s\S]*?\*\//g,
  '.html': /<!--[\s\S]*?-->|\/\*[\s\S]*?\*\/|(?<=\n[ \t]*)\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*/g,
  '.yml': /(?<=^|\n)[ \t]*#[^\n]*(?:\n[ \t]*#[^\n]*)*/g,
};
const { '.html': inPages, '.yml': inSettings } = commentsOf;
Object.assign(commentsOf, { '.vue': inPages, '.svelte': inPages, '.yaml': inSettings, '': inSettings });

/**
 * `it`, `it.each(rows)`, `describe.skipIf(isSlow)`: a call whose first argument is a test name. @param {ts.Expression}
 * callee @returns {boolean}
 */
function isOfTest(callee) {
  if (ts.isIdentifier(callee)) return /^(?:it|test|describe)(?![a-z])/.test(callee.text);
  return (
    (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) && isOfTest(callee.expression)
  );
}

/** @param {ts.Node} node */
const isTitle = (node) =>
  ts.isCallExpression(node.parent) && node.parent.arguments[0] === node && isOfTest(node.parent.expression);

/** `described(shape, 'Id of the payment.')`, `summary: 'Lists the payments.'` @param {ts.Node} node */
const isDescription = ({ parent, pos }) =>
  ts.isCallExpression(parent)
    ? ts.isIdentifier(parent.expression) &&
      parent.expression.text === 'described' &&
      parent.arguments[1]?.pos === pos
    : ts.isPropertyAssignment(parent) && /^(?:summary|description|help)$/.test(parent.name.getText());

/** @param {ts.Node} node @returns {Text['kind']} */
function kindOf(node) {
  if (isTitle(node)) return 'title';
  return isDescription(node) ? 'description' : 'message';
}

/** The text of a template, with its code blanked. @param {ts.TemplateExpression} node @param {ts.SourceFile} tree */
function withoutSpans(node, tree) {
  const start = node.getStart(tree);
  return node.templateSpans.reduce((text, { expression }) => {
    const [from, to] = [expression.pos - start, expression.end - start];
    return text.slice(0, from) + blank(text.slice(from, to)) + text.slice(to);
  }, node.getText(tree));
}

/** @param {string} file @param {string} source @returns {Text[]} */
function textsOfCode(file, source) {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  /** @type {Text[]} */
  const texts = [];
  /** @param {ts.Node} node @param {string} text */
  const add = (node, text) => {
    if (/\w\s|\s\w/.test(text)) texts.push({ kind: kindOf(node), start: node.getStart(tree), text });
  };
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return;
    if (ts.isTemplateExpression(node)) add(node, withoutSpans(node, tree));
    const children = node.getChildren(tree);
    if (children.length > 0) return children.forEach(visit);
    const start = node.getStart(tree);
    if (node.kind !== ts.SyntaxKind.JsxText)
      for (const { 0: found, index } of source.slice(node.pos, start).matchAll(comment))
        texts.push({ kind: 'comment', start: node.pos + index, text: withoutMarks(found) });
    if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) add(node, source.slice(start, node.end));
  };
  visit(tree);
  return texts;
}

/** @param {string} source @returns {Text[]} */
function textsOfMarkdown(source) {
  const prose = withoutCode(
    source
      .replace(/^(?<fence> *```+)[^\n]*\n[\s\S]*?^\k<fence>$/gm, blank)
      .replace(/\]\([^)\s]*\)|<[^>]*>/g, blank),
  );
  return [...prose.matchAll(/(?:[^\n]*\S[^\n]*\n?)+/g)].map(({ 0: text, index }) => ({
    kind: 'prose',
    start: index,
    text,
  }));
}

/** The English of mails and hosted pages. */
const englishTexts = /^src\/messages\/en\/.*\.json$/;

/** @param {string} file its path, whose extension names the language @param {string} source @returns {Text[]} */
export function textsOf(file, source) {
  const extension = extname(file);
  if (extension === '.md') return textsOfMarkdown(source);
  if (/^\.[cm]?[jt]sx?$/.test(extension)) return textsOfCode(file, source);
  if (englishTexts.test(file))
    return [...source.matchAll(/"(?:[^"\\\n]|\\.)*"/g)]
      .filter(({ 0: text }) => text.includes(' '))
      .map(({ 0: text, index }) => ({ kind: 'message', start: index, text }));
  const comments = commentsOf[extension];
  return comments
    ? [...source.matchAll(comments)].map(({ 0: found, index }) => ({
        kind: 'comment',
        start: index,
        text: withoutMarks(found),
      }))
    : [];
}
