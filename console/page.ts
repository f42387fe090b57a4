/** A page of the console, and its input from the shell. */
import type { TemplateResult } from 'lit';
import type { ConsoleSession } from '../src/contract/console-people.js';
import type { Api, Mode } from './api.js';
import type { Counts } from './attention.js';
import type { Query } from './route.js';
import type { Dialog } from './ui/dialog.js';

export interface Page<Data = unknown> {
  /** The heading, and the tab's title. */
  title(view: View, data?: Data): string;
  /** Reads the page's data: when the address changes, after each change, and every `everyMs`. */
  load(view: View): Promise<Data>;
  render(data: Data, view: View): TemplateResult;
  /** Interval of reading it again while it is visible; never if undefined. */
  readonly everyMs?: number | undefined;
  /**
   * The changes that the server announces: the page is then read immediately, and every `everyMs` only if announcements
   * are not available.
   */
  readonly changes?: 'home' | 'payment';
  /** The part of the data that the announcements are about: it is not read again until the server has another one. */
  announced?(data: Data): unknown;
  /** The numbers in the menu, if the page's data has them: they are not read once more then. */
  counts?(data: Data): Counts;
  /** Actions that can be started from anywhere, by their name in the address: `?do=create`. */
  readonly actions?: Readonly<Record<string, (view: View) => Promise<unknown>>> | undefined;
}

/** The page's address, and its actions. Each address gets a new one. */
export interface View {
  readonly api: Api;
  readonly apiUrl: string;
  readonly session: ConsoleSession;
  readonly mode: Mode;
  /** The record that the page is about; empty for lists. */
  readonly id: string;
  /** The filters. */
  readonly query: URLSearchParams;
  /** The time by the clock of the mode, epoch milliseconds: the test clock may be ahead. */
  now(): number;
  /** Aborted when the page is left. */
  readonly signal: AbortSignal;
  /** True if the person's role may call `resource.verb` of the contract. */
  can(permission: string): boolean;
  /** True if the role may see a page, by its name. */
  sees(page: string): boolean;
  /** The pages in the menu of a page that the role may see, by name. */
  parts(page: string): readonly string[];
  /** The address of a page in the same mode. */
  link(page: string, id?: string, query?: Query): string;
  go(href: string): void;
  /** The same, but Back does not return here. */
  replace(href: string): void;
  /** Changes filters in the address, and reads the page again. An empty filter is removed. */
  filter(query: Query): void;
  /**
   * Runs a button's action: shows progress, then `done` or the error, and reads the page again. If the server wants a
   * fresh sign-in, it asks for one and retries. The notice offers `undo`. Resolves to undefined if the action did not happen.
   */
  act<T>(run: () => Promise<T>, done?: string, undo?: () => Promise<unknown>): Promise<T | undefined>;
  /**
   * Asks for a fresh sign-in if the last one is too old for money, keys and the team: before a form is filled in, not
   * after. Resolves to false if the person gave up.
   */
  prove(): Promise<boolean>;
  /** True while an action started by the page's buttons still runs. */
  readonly isBusy: boolean;
  /** Asks in a dialog; resolves to undefined if it was closed. */
  ask(dialog: Dialog): Promise<Readonly<Record<string, string>> | undefined>;
  /** Shows a notice for a moment. */
  say(text: string): void;
  /** Redraws after a change of the page's own state. */
  redraw(): void;
}

/** Runs an action that needs a fresh sign-in: asked for before its form opens, wherever the action was started. */
export const guarded = (run: (view: View) => Promise<unknown>) => async (view: View) => {
  if (await view.prove()) await run(view);
};

/** Checks the types of a page's data, and then erases them: the shell only passes the data on. */
export function page<Data>(definition: Page<Data>): Page {
  return definition;
}
