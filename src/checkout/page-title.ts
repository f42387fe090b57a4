/** Shows in the browser's tab that a payment is complete. */

export class PageTitle {
  /** Stands in the place of the page's own title. */
  #shown: string | undefined;
  #own = '';

  /** @param title empty if the page is to have its own title back, or keep the one that it has set since */
  show(title: string): void {
    if (title === '') {
      if (document.title === this.#shown) document.title = this.#own;
      this.#shown = undefined;
    } else if (this.#shown === undefined) {
      this.#own = document.title;
      this.#shown = document.title = title;
    }
  }
}
