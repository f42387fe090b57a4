/** Draws an element from nothing, where others have changed what lit has drawn. */

type Root = HTMLElement | DocumentFragment;

/** Takes away all that is drawn, so that the next update draws it anew. */
export function drawAnew(root: Root): void {
  root.replaceChildren();
  // Where lit keeps what it has rendered into a node.
  Object.assign(root, { _$litPart$: undefined });
}

/** Runs an update, and once more from nothing if nodes that it writes into are gone. */
export function drawOrAnew(root: Root, update: () => void): void {
  try {
    update();
  } catch {
    drawAnew(root);
    update();
  }
}
