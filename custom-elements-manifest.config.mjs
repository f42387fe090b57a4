/** Configures how `custom-elements.json` is generated: the element's description for editors and docs. */

/**
 * Keeps only the public API, with the paths of the npm package.
 * @param {{ customElementsManifest: { modules: unknown[] } }} context
 */
function published({ customElementsManifest }) {
  const text = JSON.stringify(customElementsManifest.modules, (key, value) => {
    // Events that are dispatched without a literal name come up twice: once with none, or a wrong one, and once from `@fires`.
    if (key === 'events')
      return value.filter((/** @type {{ name?: string }} */ event) => event.name?.startsWith('checkout-'));
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
  plugins: [{ name: 'published', packageLinkPhase: published }],
};
