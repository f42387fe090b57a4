/**
 * Changes by others to the element's DOM. Translators put elements in place of text nodes, inside shadow roots too, or
 * drop the comments that mark where a template's values are; extensions and pages move nodes. Later updates of the
 * template would be lost: the card would keep asking for money that has arrived.
 */
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { drawAnew } from './draw-anew.js';

/** Runs an update, and renders from nothing if nodes that it writes into have been removed. */
export function drawOrAnew(root: HTMLElement | DocumentFragment, update: () => void): void {
  try {
    update();
  } catch {
    drawAnew(root);
    update();
  }
}

/** Text that a template wrote into a translator's element instead of its text node. */
function restoreTexts(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLElement>('font')) {
    if ('data' in element) element.replaceWith(String(element.data));
  }
}

interface Host extends ReactiveControllerHost {
  readonly renderRoot: HTMLElement | DocumentFragment;
  readonly isConnected: boolean;
}

/** Repairs its host's DOM at each update. */
export class ForeignDom implements ReactiveController {
  readonly #host: Host;
  readonly #stateOf: () => unknown;
  readonly #observer = new MutationObserver((records) => this.#see(records));
  #isDamaged = false;
  #drawn: unknown;

  /** @param stateOf changes when the view changes. Damage is repaired only then, not with each second of a countdown */
  constructor(host: Host, stateOf: () => unknown) {
    this.#host = host;
    this.#stateOf = stateOf;
    host.addController(this);
  }

  hostDisconnected(): void {
    this.#observer.disconnect();
  }

  hostUpdate(): void {
    this.#see(this.#observer.takeRecords());
    const state = this.#stateOf();
    if (this.#isDamaged && state !== this.#drawn) {
      drawAnew(this.#host.renderRoot);
      this.#isDamaged = false;
    }
    this.#drawn = state;
  }

  hostUpdated(): void {
    const { renderRoot, isConnected } = this.#host;
    restoreTexts(renderRoot);
    // The update's own changes do not count.
    this.#observer.takeRecords();
    if (isConnected) this.#observer.observe(renderRoot, { childList: true, subtree: true });
  }

  #see(records: readonly MutationRecord[]): void {
    // The field for copying text comes and goes.
    const isLost = (node: Node) => !node.isConnected && node.nodeName !== 'TEXTAREA';
    const isReplaced = ({ addedNodes }: MutationRecord) =>
      [...addedNodes].some((node) => node.nodeName === 'FONT');
    this.#isDamaged ||= records.some(
      (record) => !isReplaced(record) && [...record.removedNodes].some(isLost),
    );
  }
}
