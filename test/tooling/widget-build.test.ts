/** Guarantees for the built files of the widget, in addition to their sizes, which `npm run size` checks. */
import { build, type Rolldown } from 'vite';
import { expect, it } from 'vitest';

it('The widget’s first chunk begins with the hint to compile its functions while it loads, and no other chunk has it', async () => {
  const built = await build({ logLevel: 'error', build: { write: false } });
  const [{ output }] = built as [Rolldown.RolldownOutput];
  const chunks = output.filter((file) => file.type === 'chunk');
  const entry = chunks.find(({ isEntry }) => isEntry);
  const hint = '//# allFunctionsCalledOnLoad';
  // V8 reads it only at its beginning.
  const hinted = chunks.filter(({ code }) => code.startsWith(`${hint}\n`));
  expect(hinted.map(({ fileName }) => fileName)).toEqual(entry?.imports);
  expect(hinted).toHaveLength(1);
  expect(chunks.filter(({ code }) => code.includes(hint))).toEqual(hinted);
});
