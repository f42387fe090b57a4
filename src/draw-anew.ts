/** Draws an element from nothing, where others have changed what lit has drawn. */

/** `_$litPart$` is where lit keeps what it has rendered into a node. */
type Root = (HTMLElement | DocumentFragment) & { _$litPart$?: unknown };

/** Clears the rendered DOM, so that the next update renders all of it. */
export function drawAnew(root: Root): void {
  root.replaceChildren();
  root._$litPart$ = undefined;
}
