/** Shows in the browser's tab that a payment is complete. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { CheckoutStatus } from './state.js';

interface TitleHost extends ReactiveControllerHost {
  readonly isConnected: boolean;
  readonly status: CheckoutStatus;
}

export class PageTitle implements ReactiveController {
  readonly #host: TitleHost;
  readonly #paid: () => string;
  /** Prefix of a replaced page title. */
  #shown: string | undefined;
  #own = '';

  /** @param paid the title of a page whose payment is complete */
  constructor(host: TitleHost, paid: () => string) {
    this.#host = host;
    this.#paid = paid;
    host.addController(this);
  }

  hostUpdated(): void {
    const { isConnected, status } = this.#host;
    // An update requested before the element was removed runs after the removal.
    this.#show(isConnected && status === 'success' ? this.#paid() : '');
  }

  hostDisconnected(): void {
    this.#show('');
  }

  /** @param title empty to restore the page's own title, or keep the one that it has set since */
  #show(title: string): void {
    if (title === '') {
      if (document.title === this.#shown) document.title = this.#own;
      this.#shown = undefined;
    } else if (this.#shown === undefined) {
      this.#own = document.title;
      this.#shown = document.title = title;
    }
  }
}
