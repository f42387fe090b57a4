/** The console's state: the screen, its content and its menu after each action. */
import { html } from 'lit';
import { describe, expect, it } from 'vitest';
import { page } from '../../console/page.js';
import { parseRoute } from '../../console/route.js';
import {
  initial,
  isCountDue,
  isOtherPage,
  reduce,
  type Action,
  type Content,
  type Open,
  type ShellState,
} from '../../console/shell-state.js';
import { peopleApi } from '../../src/contract/console-people.js';

const session = {
  ...peopleApi.session.retrieve.data.parse(peopleApi.session.retrieve.sample.data),
  permissions: ['transactions.*', 'customers.*', 'home.retrieve'],
};

/** A page whose data has the numbers of the menu, as Home's. */
const counting = page<number>({
  title: () => 'Home',
  load: () => Promise.resolve(3),
  render: () => html``,
  counts: (payments) => ({ payments }),
});
const plain = page<string>({ title: () => 'Page', load: () => Promise.resolve(''), render: () => html`` });

function routeOf(path: string) {
  const route = parseRoute('/console', new URL(`https://shop.example/console${path}`));
  if (!route) throw new Error(`${path} has no mode`);
  return route;
}

const apply = (state: ShellState, ...actions: Action[]) => actions.reduce(reduce, state);
const opened = (path: string): Action => ({ type: 'opened', session, route: routeOf(path) });
const loaded = (data: string): Action => ({ type: 'loaded', page: plain, data, now: 1000 });
const problem = { name: 'problem', text: 'No answer' } as const;
const failed: Action = { type: 'failed', problem };

function openOf({ screen }: ShellState): Open {
  if (screen.name !== 'open') throw new Error(`The screen is ${screen.name}`);
  return screen;
}
const contentAfter = (...actions: Action[]): Content => openOf(apply(initial, ...actions)).content;

describe('the screen', () => {
  const asking: Action = { type: 'sign-in-shown', signIn: { name: 'asking' } };

  it('the screen is starting before anything is known', () => {
    expect(initial.screen).toEqual({ name: 'starting' });
  });

  it('the screen shows the sign-in if nobody is signed in, and the page of the address afterwards', () => {
    const state = apply(initial, asking);
    expect(state.screen).toEqual({ name: 'signing-in', signIn: { name: 'asking' } });
    expect(openOf(apply(state, opened('/test/customers'))).session).toBe(session);
  });

  it('the screen keeps nothing of a session that has ended', () => {
    const before = apply(
      initial,
      opened('/test/customers'),
      loaded('secret'),
      { type: 'counted', counts: { payments: 2 } },
      asking,
    );
    expect(JSON.stringify(before)).not.toContain('secret');
    const { content, menu } = openOf(apply(before, opened('/test/customers')));
    expect(content).toEqual({ name: 'loading' });
    expect(menu.counts).toEqual({});
  });

  it('answers that come after the session has ended are ignored', () => {
    const state = apply(initial, opened('/test/customers'), asking);
    for (const late of [loaded('late'), failed, { type: 'counted', counts: { payments: 1 } } as const]) {
      expect(reduce(state, late)).toBe(state);
    }
  });

  it('the screen takes a session that was read again, and keeps the page', () => {
    const state = apply(initial, opened('/test/customers'), loaded('rows'));
    const next = { ...session, provedUntil: '2026-01-02T00:00:00.000Z' };
    const open = openOf(reduce(state, { type: 'session-read', session: next }));
    expect(open.session).toBe(next);
    expect(open.content).toBe(openOf(state).content);
  });
});

describe('the content', () => {
  it('the content loads when another page, record or mode is opened', () => {
    for (const path of ['/test/payments', '/test/customers/01J', '/live/customers']) {
      expect(contentAfter(opened('/test/customers'), loaded('rows'), opened(path))).toEqual({
        name: 'loading',
      });
    }
  });

  it('the content keeps its rows, marked as old, while other filters are read', () => {
    const next = opened('/test/customers?state=blocked');
    expect(contentAfter(opened('/test/customers'), loaded('rows'), next)).toEqual({
      name: 'page',
      page: plain,
      data: 'rows',
      isOld: true,
    });
    expect(contentAfter(opened('/test/customers'), loaded('rows'), next, loaded('others'))).toEqual({
      name: 'page',
      page: plain,
      data: 'others',
    });
  });

  it('the content is a final problem on a page that does not exist', () => {
    expect(contentAfter(opened('/test/nowhere'))).toMatchObject({
      name: 'problem',
      isFinal: true,
      title: 'Page not found',
    });
  });

  it('the content is a final problem on a page that the role may not see, even if it was shown before', () => {
    expect(contentAfter(opened('/test/refunds'))).toMatchObject({
      name: 'problem',
      isFinal: true,
      title: 'Not for your role',
    });
    const state = apply(initial, opened('/test/customers'), loaded('rows'));
    const less = { ...session, permissions: [] };
    const action: Action = { type: 'opened', session: less, route: routeOf('/test/customers') };
    expect(openOf(reduce(state, action)).content).toMatchObject({ title: 'Not for your role' });
  });

  it('the content is the problem if the first read fails, until a retry succeeds', () => {
    expect(contentAfter(opened('/test/customers'), failed)).toEqual(problem);
    expect(contentAfter(opened('/test/customers'), failed, opened('/test/customers'))).toEqual(problem);
    expect(
      contentAfter(opened('/test/customers'), failed, opened('/test/customers'), loaded('rows')),
    ).toEqual({ name: 'page', page: plain, data: 'rows' });
  });

  it('the content keeps the earlier rows next to the problem if a later read fails', () => {
    const steps = [opened('/test/customers'), loaded('rows'), opened('/test/customers?page=2'), failed];
    const kept = { name: 'page', page: plain, data: 'rows' };
    expect(contentAfter(...steps)).toEqual({ ...kept, problem });
    expect(contentAfter(...steps, loaded('rows'))).toEqual(kept);
  });

  it('the content is a final problem if the record does not exist, unless it was shown before', () => {
    const missing: Action = { ...failed, isMissing: true };
    const record = opened('/test/customer/01J');
    expect(contentAfter(record, missing)).toMatchObject({ title: 'Record not found', isFinal: true });
    expect(contentAfter(record, loaded('Ada'), missing)).toMatchObject({
      name: 'page',
      data: 'Ada',
      problem,
    });
  });
});

describe('another page', () => {
  const { screen } = apply(initial, opened('/test/customer/01J?page=2'));
  it.each([
    ['/test/customer/01J', false],
    ['/test/customer/01K', true],
    ['/live/customer/01J', true],
    ['/test/payment/01J', true],
  ])('the path %s leads to another page: %s', (path, isOther) => {
    expect(isOtherPage(screen, routeOf(path))).toBe(isOther);
  });

  it('any page is another one before the first was open', () => {
    expect(isOtherPage(initial.screen, routeOf('/test/customers'))).toBe(true);
  });
});

describe('the numbers in the menu', () => {
  const now = 1_000_000;
  const state = apply(
    initial,
    opened('/test/customers'),
    { type: 'counting', mode: 'test', now },
    { type: 'counted', counts: { payments: 2 } },
  );
  const isDue = (one: ShellState, at: number) => isCountDue(openOf(one), 'test', at);

  it('the numbers in the menu are due at first, and after half a minute', () => {
    expect(isDue(apply(initial, opened('/test/customers')), now)).toBe(true);
    expect(isDue(state, now + 30_000)).toBe(false);
    expect(isDue(state, now + 30_001)).toBe(true);
  });

  it('the numbers in the menu stay when another page is opened, and while they are read again', () => {
    const at = now + 40_000;
    const next = apply(state, opened('/test/payments'), { type: 'counting', mode: 'test', now: at });
    expect(openOf(next).menu).toEqual({ mode: 'test', at, counts: { payments: 2 } });
  });

  it('the numbers in the menu disappear when the other mode is read', () => {
    const next = reduce(state, { type: 'counting', mode: 'live', now });
    expect(openOf(next).menu).toEqual({ mode: 'live', at: now, counts: {} });
    expect(isDue(next, now)).toBe(true);
  });

  it('the numbers in the menu are due at once if reading them has failed', () => {
    const next = reduce(state, { type: 'counting-failed', mode: 'test' });
    expect(isDue(next, now + 1)).toBe(true);
    expect(openOf(next).menu.counts).toEqual({ payments: 2 });
  });

  it('the numbers in the menu come from the page if its data has them', () => {
    const next = apply(state, opened('/live/home'), { type: 'loaded', page: counting, data: 3, now });
    expect(openOf(next).menu).toEqual({ mode: 'live', at: now, counts: { payments: 3 } });
  });
});

describe('on each screen', () => {
  const questionOf = (title: string) => ({ dialog: { title }, answer: () => undefined });

  it('the console counts the actions that run', () => {
    const two = apply(initial, { type: 'action-started' }, { type: 'action-started' });
    expect(two.busy).toBe(2);
    expect(apply(two, { type: 'action-ended' }, { type: 'action-ended' }).busy).toBe(0);
  });

  it('the open question stays when an earlier one is answered late', () => {
    const [first, second] = [questionOf('First'), questionOf('Second')];
    const state = apply(initial, { type: 'asked', question: first }, { type: 'asked', question: second });
    expect(reduce(state, { type: 'answered', question: first })).toBe(state);
    expect(reduce(state, { type: 'answered', question: second }).question).toBeUndefined();
  });

  it('a question stays when the session ends, so that its asker gets an answer', () => {
    const question = questionOf('Sure?');
    const state = apply(
      initial,
      opened('/test/customers'),
      { type: 'asked', question },
      { type: 'sign-in-shown', signIn: { name: 'asking' } },
    );
    expect(state.question).toBe(question);
  });

  it('a notice is shown until it is over', () => {
    const toast = { text: 'Saved', undo: undefined };
    const state = reduce(initial, { type: 'toast', toast });
    expect(state.toast).toBe(toast);
    expect(reduce(state, { type: 'toast', toast: undefined }).toast).toBeUndefined();
  });

  it('the state is the same one if the test clock reports the same time', () => {
    const state = reduce(initial, { type: 'clock-heard', aheadMs: 600_000 });
    expect(state.aheadMs).toBe(600_000);
    expect(reduce(state, { type: 'clock-heard', aheadMs: 600_000 })).toBe(state);
  });
});
