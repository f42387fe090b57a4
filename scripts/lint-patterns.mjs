/** A lint rule for patterns: none repeats a class before `$` without a `^`, which takes quadratic time. */
import { RegExpParser } from '@eslint-community/regexpp';

/** @typedef {import('@eslint-community/regexpp').AST.Alternative} Alternative */
/** @typedef {import('@eslint-community/regexpp').AST.Element} Element */

const parser = new RegExpParser();

/**
 * Reports whether a pattern has such a repetition: `0+$` looks at the rest of the text again from each 0.
 *
 * @param {string} source
 * @param {string} flags
 */
export function repeatsBeforeEnd(source, flags) {
  const unicode = flags.includes('u');
  const { alternatives } = parser.parsePattern(source, undefined, undefined, {
    unicode,
    unicodeSets: flags.includes('v'),
  });
  if (flags.includes('y')) return false;
  const isAnchored = (/** @type {Alternative} */ alternative) =>
    !flags.includes('m') && startsWithAnchor(alternative);
  return alternatives.some((alternative) => !isAnchored(alternative) && read(alternative, false).isFound);
}

/** @param {Alternative} alternative @returns {boolean} */
function startsWithAnchor({ elements: [first] }) {
  if (first?.type === 'Assertion') return first.kind === 'start';
  const isGroup = first?.type === 'Group' || first?.type === 'CapturingGroup';
  return isGroup && first.alternatives.every(startsWithAnchor);
}

/**
 * Reads a sequence backwards.
 *
 * @param {Alternative} alternative
 * @param {boolean} isEndNext true if `$` can follow at once
 * @returns {{ isFound: boolean, reachesEnd: boolean }} whether there is such a repetition in it, and whether it can match
 *   nothing before a `$`
 */
function read({ elements }, isEndNext) {
  let isFound = false;
  let reachesEnd = isEndNext;
  /** @param {Element} element */
  const inside = (element) => {
    const alternatives = 'alternatives' in element ? element.alternatives : [];
    const found = alternatives.flatMap((one) => ('elements' in one ? [read(one, reachesEnd)] : []));
    if (found.some((one) => one.isFound)) isFound = true;
    return found.some((one) => one.reachesEnd);
  };
  for (const element of elements.toReversed()) {
    if (element.type === 'Assertion') {
      if (element.kind === 'end') reachesEnd = true;
      // A lookaround ends with itself.
      if ('alternatives' in element && element.alternatives.some((one) => read(one, false).isFound))
        isFound = true;
    } else if (element.type === 'Quantifier') {
      if (reachesEnd && element.max === Infinity) isFound = true;
      const isEndInside = inside(element.element);
      reachesEnd = isEndInside || (reachesEnd && element.min === 0);
    } else reachesEnd = inside(element);
  }
  return { isFound, reachesEnd };
}

/** @type {import('eslint').Rule.RuleModule} */
const anchored = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      unanchored:
        'A repetition before $ takes the square of the text’s length. Begin the pattern with ^, or give the repetition a limit',
    },
  },
  create(context) {
    /** @param {import('eslint').Rule.Node} node @param {string} source @param {string} flags */
    const check = (node, source, flags) => {
      if (repeatsBeforeEnd(source, flags)) context.report({ node, messageId: 'unanchored' });
    };
    /** @param {Extract<import('eslint').Rule.Node, { type: 'NewExpression' | 'CallExpression' }>} node */
    const checkConstructor = (node) => {
      const {
        callee,
        arguments: [source, flags],
      } = node;
      if (callee.type !== 'Identifier' || callee.name !== 'RegExp') return;
      if (source?.type !== 'Literal' || typeof source.value !== 'string') return;
      check(node, source.value, flags?.type === 'Literal' ? String(flags.value) : '');
    };
    return {
      Literal(node) {
        if ('regex' in node && node.regex) check(node, node.regex.pattern, node.regex.flags);
      },
      NewExpression: checkConstructor,
      CallExpression: checkConstructor,
    };
  },
};

export default { rules: { anchored } };
