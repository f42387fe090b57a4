/** Draws an element from nothing, where others have changed what lit has drawn. */

/** `_$litPart$` is where lit keeps what it has rendered into a node. */
type Root = (HTMLElement | DocumentFragment) & { _$litPart$?: unknown };

/** Takes away all that is drawn, so that the next update draws it anew. */
export function drawAnew(root: Root): void {
  root.replaceChildren();
  root._$litPart$ = undefined;
}
