/**
 * One page, while its address is open: reads its data at once, after each change that the server announces, and at intervals.
 * Nothing of it outlives the visit.
 */
import { changesPath } from '../src/contract/console-people.js';
import { CallFailure } from './api.js';
import { followChanges, markOf, type Following } from './changes.js';
import type { Page, View } from './page.js';
import { isSignedOut, problemOf } from './problems.js';
import type { Action, Content } from './shell-state.js';

export interface VisitHost {
  readonly apiUrl: string;
  /** Undefined while no page is open. */
  readonly contentOf: () => Content | undefined;
  readonly dispatch: (action: Action) => void;
  /** Called after each read. */
  readonly count: (view: View) => void;
  /** The session has ended. */
  readonly askToSignIn: () => void;
}

export class Visit {
  readonly view: View;
  readonly #host: VisitHost;
  readonly #ended = new AbortController();
  /** Undefined until its script has loaded. */
  #page: Page | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #following: Following | undefined;
  /** The server's mark of the payment, before it was read. */
  #seen: string | undefined;
  /** True if something has changed since the data was requested. */
  #isStale = false;
  /** Counts the reads, and the last one that has ended. */
  #reading = 0;
  #loaded = 0;

  constructor(host: VisitHost, viewOf: (signal: AbortSignal) => View, seen?: string) {
    this.#host = host;
    this.#seen = seen;
    this.view = viewOf(this.#ended.signal);
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  async start(page: Page): Promise<void> {
    this.#page = page;
    // If the announcements are about the data, it is read first.
    if (!page.announced) void this.#follow();
    await this.read();
    if (page.announced && !this.signal.aborted) void this.#follow();
  }

  /** Reads the page's data. If reading it again fails, the earlier data stays. */
  async read(): Promise<void> {
    const page = this.#page;
    if (!page) return;
    const { view } = this;
    // An answer overtaken by a later one is older than the page.
    this.#reading += 1;
    const reading = this.#reading;
    this.#isStale = false;
    const isLate = () => this.signal.aborted || reading !== this.#reading;
    let waitMs = page.everyMs;
    try {
      const data = await page.load(view);
      if (isLate()) return;
      this.#host.dispatch({ type: 'loaded', page, data, now: Date.now() });
    } catch (error) {
      if (isLate()) return;
      if (isSignedOut(error)) {
        this.#host.askToSignIn();
        return;
      }
      const failure = error instanceof CallFailure ? error : undefined;
      if (waitMs !== undefined) waitMs = Math.max(waitMs, (failure?.waitSeconds ?? 0) * 1000);
      this.#host.dispatch({
        type: 'failed',
        problem: { name: 'problem', ...problemOf(error) },
        isMissing: failure?.code === 'not_found',
      });
    }
    this.#loaded = reading;
    this.#host.count(view);
    if (waitMs !== undefined) this.#poll(waitMs);
  }

  /** Called when the document is hidden or seen again. */
  watch(): void {
    void this.#follow();
    this.#poll(0);
  }

  end(): void {
    this.#ended.abort();
    this.#following?.end();
    this.#following = undefined;
    clearTimeout(this.#timer);
  }

  /**
   * Reads the page again after a while: soon if it has changed in the meantime, and rarely if the server announces
   * changes.
   */
  #poll(delayMs: number): void {
    clearTimeout(this.#timer);
    if (this.signal.aborted || document.hidden || this.#page?.everyMs === undefined) return;
    if (this.#isStale) return void this.read();
    this.#timer = setTimeout(() => void this.read(), Math.max(delayMs, this.#following?.waitMs ?? 0));
  }

  /** Listens to changes of the page, if the server sends them. A hidden page needs none, and takes no connection. */
  async #follow(): Promise<void> {
    const page = this.#page;
    if (!page) return;
    const content = this.#host.contentOf();
    const announced = content?.name === 'page' ? page.announced?.(content.data) : undefined;
    const seen = page.changes === 'payment' ? this.#seen : await markOf(announced);
    if (this.signal.aborted) return;
    // It was that of the first read.
    this.#seen = undefined;
    this.#following?.end();
    this.#following = undefined;
    if (!page.changes || document.hidden) return;
    const query = new URLSearchParams({
      ...(page.changes === 'payment' && { payment: this.view.id }),
      ...(seen !== undefined && { seen }),
    });
    const url = `${this.#host.apiUrl}${changesPath}/${this.view.mode}?${query}`;
    this.#following = followChanges(url, (isChanged) => {
      this.#isStale ||= isChanged;
      // A read in progress is repeated once afterwards.
      if (this.#loaded === this.#reading) this.#poll(page.everyMs ?? 0);
    });
  }
}
