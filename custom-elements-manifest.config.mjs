/** What `custom-elements.json`, the description of the element for editors and documentation, is made from. */

/**
 * Leaves what a page can use, at the paths that the npm package has.
 * @param {{ customElementsManifest: { modules: unknown[] } }} context
 */
function published({ customElementsManifest }) {
  const text = JSON.stringify(customElementsManifest.modules, (key, value) => {
    // An event that is dispatched without a literal name is documented by `@fires`, under its name.
    if (key === 'events') return value.filter((/** @type {{ name?: string }} */ event) => event.name);
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
