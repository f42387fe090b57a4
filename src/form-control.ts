/** Loads the code that makes the checkout a form control. Most pages have it outside any form. */
import { fetchCode } from './fetch-code.js';
import type { FormHost, FormValue } from './form-value.js';

export class FormControl {
  readonly #host: FormHost;
  /** Undefined in browsers before 2023, where the checkout does not take part in forms. */
  readonly #internals: Partial<ElementInternals> | undefined;
  readonly #orderKey: () => string;
  readonly #message: () => string;
  #value: Promise<FormValue> | undefined;

  /**
   * @param orderKey identifies the order, so that a browser restores a payment only for it; empty if nothing does
   * @param message the browser's message if the form is submitted too early
   */
  constructor(host: FormHost, orderKey: () => string, message: () => string) {
    this.#host = host;
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- browsers before 2023
    this.#internals = host.attachInternals?.();
    this.#orderKey = orderKey;
    this.#message = message;
  }

  /**
   * The element is in a form now. Nobody has paid yet, so a form that is submitted before the rest is loaded is blocked
   * too.
   */
  enter(): void {
    if (this.#host.hasAttribute('required')) this.#internals?.setValidity?.({ valueMissing: true }, '…');
    void this.load();
  }

  async load(): Promise<FormValue | undefined> {
    const internals = this.#internals;
    if (!internals) return undefined;
    this.#value ??= fetchCode(() => import('./form-value.js')).then(
      ({ FormValue }) => new FormValue(this.#host, internals, this.#orderKey, this.#message),
    );
    try {
      const value = await this.#value;
      this.#host.requestUpdate();
      await this.#host.updateComplete;
      return value;
    } catch {
      // A required one stays invalid. The next event of the form tries again.
      this.#value = undefined;
      return undefined;
    }
  }
}
