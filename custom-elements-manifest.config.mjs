/** Configures how `custom-elements.json` is generated: the element's description for editors and docs. */

/** The element's events, as `src/events.ts` lists them: with their class, and the comment on each. @type {object[]} */
const events = [];

/** @param {{ ts: typeof import('typescript'), node: import('typescript').Node }} context */
function readEvents({ ts, node }) {
  if (!ts.isVariableDeclaration(node) || node.name.getText() !== 'checkoutEvents') return;
  /** @param {import('typescript').Node} child */
  const visit = (child) => {
    if (!ts.isPropertyAssignment(child) || !ts.isStringLiteral(child.name)) {
      ts.forEachChild(child, visit);
      return;
    }
    const [comment] = ts.getJSDocCommentsAndTags(child);
    events.push({
      name: child.name.text,
      type: { text: child.initializer.getText() },
      description: ts.getTextOfJSDocComment(comment?.comment),
    });
  };
  visit(node);
}

/**
 * Keeps only the public API, with the paths of the npm package.
 * @param {{ customElementsManifest: { modules: unknown[] } }} context
 */
function published({ customElementsManifest }) {
  const text = JSON.stringify(customElementsManifest.modules, (key, value) => {
    // The analyzer's own list has only events that are dispatched under a literal name.
    if (key === 'events') return events;
    // The whole list again, as source text.
    if (value?.name === 'checkoutEvents') return { ...value, type: undefined, default: undefined };
    return Array.isArray(value) ? value.filter((entry) => entry?.privacy !== 'private') : value;
  });
  customElementsManifest.modules = JSON.parse(
    text.replaceAll(/"\/?src\/([\w/-]+)\.(ts|js)"/g, '"dist/$1.js"'),
  );
}

export default {
  globs: ['src/crypto-checkout.ts', 'src/events.ts', 'src/index.ts'],
  litelement: true,
  packagejson: false,
  plugins: [{ name: 'published', analyzePhase: readEvents, packageLinkPhase: published }],
};
