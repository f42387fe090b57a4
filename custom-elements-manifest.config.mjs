/** What `custom-elements.json`, the description of the element for editors and documentation, is made from. */
export default {
  globs: ['src/crypto-checkout.ts', 'src/events.ts', 'src/index.ts'],
  litelement: true,
};
