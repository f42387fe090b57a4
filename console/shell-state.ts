/** The console's state as one union, and the pure function that applies an action to it. */
import { allows, type ConsoleSession } from '../src/contract/console-people.js';
import type { Mode } from './api.js';
import type { Counts } from './attention.js';
import { shellTexts as texts } from './messages/common.js';
import type { Page } from './page.js';
import { placeOf } from './pages.js';
import type { Route } from './route.js';
import type { SignIn } from './sign-in.js';
import type { Dialog } from './ui/dialog.js';

export interface Problem {
  readonly name: 'problem';
  /** The heading, if the problem is all that there is. */
  readonly title?: string;
  /** Trying again cannot help. */
  readonly isFinal?: true;
  readonly text: string;
  readonly requestId?: string | undefined;
}

/** The content of the page in the address. */
export type Content =
  | { readonly name: 'loading' }
  | Problem
  | {
      readonly name: 'page';
      readonly page: Page;
      readonly data: unknown;
      /** Reading it again failed; the earlier data is still shown. */
      readonly problem?: Problem;
      /** The data is that of the earlier filters. */
      readonly isOld?: true;
    };

/** The numbers in the menu: of which mode, when they were read, and those that were read last. */
interface Menu {
  readonly mode?: Mode;
  readonly at: number;
  readonly counts: Counts;
}

export interface Open {
  readonly name: 'open';
  readonly session: ConsoleSession;
  readonly route: Route;
  readonly content: Content;
  readonly menu: Menu;
}

type Screen =
  /** The session is being read. */
  | { readonly name: 'starting' }
  /** Nothing of the previous session is kept: another person may sign in. */
  | { readonly name: 'signing-in'; readonly signIn: SignIn }
  | Open;

/** A notice for a moment. */
export interface Toast {
  readonly text: string;
  /** Undefined if it cannot be undone. */
  readonly undo: (() => void) | undefined;
}

export interface Question {
  readonly dialog: Dialog;
  readonly answer: (values: Readonly<Record<string, string>> | undefined) => void;
}

/** The screen, and what may be on each: a notice, a question, and actions that still run. */
export interface ShellState {
  readonly screen: Screen;
  readonly toast?: Toast | undefined;
  readonly question?: Question | undefined;
  /** The number of actions that run. */
  readonly busy: number;
  /** Time that the test clock is ahead, in whole minutes. */
  readonly aheadMs: number;
}

export const initial: ShellState = { screen: { name: 'starting' }, busy: 0, aheadMs: 0 };

export type Action =
  | { readonly type: 'sign-in-shown'; readonly signIn: SignIn }
  /** The address is that of a page. `session`: the one that it is opened with. */
  | { readonly type: 'opened'; readonly session: ConsoleSession; readonly route: Route }
  /** The session was read again. */
  | { readonly type: 'session-read'; readonly session: ConsoleSession }
  /** `now`: epoch milliseconds. */
  | { readonly type: 'loaded'; readonly page: Page; readonly data: unknown; readonly now: number }
  /** `isMissing`: the record does not exist. */
  | { readonly type: 'failed'; readonly problem: Problem; readonly isMissing?: boolean }
  /** The numbers in the menu are being read. */
  | { readonly type: 'counting'; readonly mode: Mode; readonly now: number }
  | { readonly type: 'counted'; readonly counts: Counts }
  /** They are read again with the next page. */
  | { readonly type: 'counting-failed'; readonly mode: Mode }
  | { readonly type: 'clock-heard'; readonly aheadMs: number }
  | { readonly type: 'action-started' | 'action-ended' }
  /** Undefined: the notice is over. */
  | { readonly type: 'toast'; readonly toast: Toast | undefined }
  | { readonly type: 'asked' | 'answered'; readonly question: Question };

export function reduce(state: ShellState, action: Action): ShellState {
  switch (action.type) {
    case 'sign-in-shown':
      return { ...state, screen: { name: 'signing-in', signIn: action.signIn } };
    case 'opened':
      return { ...state, screen: openPage(state.screen, action.session, action.route) };
    case 'session-read':
      return whileOpen(state, (open) => ({ ...open, session: action.session }));
    case 'loaded':
      return whileOpen(state, (open) => load(open, action.page, action.data, action.now));
    case 'failed':
      return whileOpen(state, (open) => ({
        ...open,
        content: fail(open.content, action.problem, action.isMissing === true),
      }));
    case 'counting':
      return whileOpen(state, (open) => ({ ...open, menu: count(open.menu, action.mode, action.now) }));
    case 'counted':
      return whileOpen(state, (open) => ({ ...open, menu: { ...open.menu, counts: action.counts } }));
    case 'counting-failed':
      return whileOpen(state, (open) => ({ ...open, menu: { ...open.menu, mode: action.mode, at: 0 } }));
    case 'clock-heard':
      return action.aheadMs === state.aheadMs ? state : { ...state, aheadMs: action.aheadMs };
    case 'action-started':
      return { ...state, busy: state.busy + 1 };
    case 'action-ended':
      return { ...state, busy: state.busy - 1 };
    case 'toast':
      return action.toast === state.toast ? state : { ...state, toast: action.toast };
    case 'asked':
      return { ...state, question: action.question };
    case 'answered':
      // A late answer to an earlier question does not close the one that is open.
      return action.question === state.question ? { ...state, question: undefined } : state;
    default:
      return action satisfies never;
  }
}

/** True if the screen shows another page than before: not if only its filters have changed. */
export function isOtherPage(screen: Screen, { page, id, mode }: Route): boolean {
  if (screen.name !== 'open') return true;
  const { route } = screen;
  return page !== route.page || id !== route.id || mode !== route.mode;
}

/** The numbers in the menu are read at most every half minute. */
const countMs = 30_000;
export const isCountDue = ({ menu }: Open, mode: Mode, now: number): boolean =>
  menu.mode !== mode || now - menu.at > countMs;

/** Answers of a page that was left, or of a session that has ended, change nothing. */
function whileOpen(state: ShellState, change: (open: Open) => Open): ShellState {
  return state.screen.name === 'open' ? { ...state, screen: change(state.screen) } : state;
}

function openPage(screen: Screen, session: ConsoleSession, route: Route): Open {
  return {
    name: 'open',
    session,
    route,
    content: contentOf(screen, session, route),
    menu: screen.name === 'open' ? screen.menu : { at: 0, counts: {} },
  };
}

/** The content until the page is read. */
function contentOf(screen: Screen, session: ConsoleSession, route: Route): Content {
  const place = placeOf(route.page);
  if (!place) return { name: 'problem', title: texts.notFoundTitle, text: texts.notFound, isFinal: true };
  if (!allows(session, place.permission)) {
    return { name: 'problem', title: texts.mayNotTitle, text: texts.mayNot(session.role), isFinal: true };
  }
  if (screen.name !== 'open' || isOtherPage(screen, route)) return { name: 'loading' };
  return screen.content.name === 'page' ? { ...screen.content, isOld: true } : screen.content;
}

function load(open: Open, page: Page, data: unknown, now: number): Open {
  const counts = page.counts?.(data);
  return {
    ...open,
    content: { name: 'page', page, data },
    menu: counts ? { mode: open.route.mode, at: now, counts } : open.menu,
  };
}

function fail(content: Content, problem: Problem, isMissing: boolean): Content {
  if (content.name === 'page') return { name: 'page', page: content.page, data: content.data, problem };
  return isMissing ? { ...problem, title: texts.missingTitle, isFinal: true } : problem;
}

/** Another mode has other numbers. */
const count = (menu: Menu, mode: Mode, now: number): Menu => ({
  mode,
  at: now,
  counts: menu.mode === mode ? menu.counts : {},
});
