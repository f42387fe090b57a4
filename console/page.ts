/** A page of the console, and its input from the shell. */
import type { TemplateResult } from 'lit';
import type { ConsoleSession } from '../src/contract/console.js';
import type { Api, Mode } from './api.js';
import type { Query } from './route.js';
import type { Dialog } from './ui/dialog.js';

export interface Page<Data = unknown> {
  /** The heading, and the tab's title. */
  title(view: View, data?: Data): string;
  /** Reads all that the page shows. It runs again when the address changes, after each change, and each `everyMs`. */
  load(view: View): Promise<Data>;
  render(data: Data, view: View): TemplateResult;
  /** Interval of reading it again while it is visible; never if undefined. */
  readonly everyMs?: number;
  /** Of what the server says when it changes: then it is read at once, and each `everyMs` only where that cannot be heard. */
  readonly changes?: 'home' | 'payment';
}

/** The page's address, and what it can do. It is a new one for each address. */
export interface View {
  readonly api: Api;
  readonly apiUrl: string;
  readonly session: ConsoleSession;
  readonly mode: Mode;
  /** The record that the page is about; empty for lists. */
  readonly id: string;
  /** The filters. */
  readonly query: URLSearchParams;
  /** Aborted when the page is left. */
  readonly signal: AbortSignal;
  /** True if the person's role may call `resource.verb` of the contract. */
  can(permission: string): boolean;
  /** The address of a page in the same mode. */
  link(page: string, id?: string, query?: Query): string;
  go(href: string): void;
  /** The same, and Back does not return here. */
  replace(href: string): void;
  /** Changes filters in the address, and reads the page again. A filter that is empty is taken out. */
  filter(query: Query): void;
  /**
   * Does what a button promises: shows that it works, then `done`, or what went wrong, and reads the page again. Where the server
   * wants a fresh sign-in, it says so and tries again. Resolves to undefined if it did not happen.
   */
  act<T>(run: () => Promise<T>, done?: string): Promise<T | undefined>;
  /** True while an action started by the page's buttons still runs. */
  readonly isBusy: boolean;
  /** Asks in a dialog; resolves to undefined if it was closed. */
  ask(dialog: Dialog): Promise<Readonly<Record<string, string>> | undefined>;
  /** Says something for a moment. */
  say(text: string): void;
  /** Redraws after a change of the page's own state. */
  redraw(): void;
}

/** Keeps the types of a page's data together, and then forgets them: the shell only hands them through. */
export function page<Data>(definition: Page<Data>): Page {
  return definition;
}
