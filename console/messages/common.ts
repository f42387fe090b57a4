/** The texts that all pages share. */
import { pick } from './pick.js';

export const common = pick({
  en: {
    brand: 'Checkout console',
    menu: 'Menu',
    more: 'More',
    moreActions: 'More actions',
    skip: 'To the content',
    loading: 'Loading…',
    close: 'Close',
    copy: 'Copy',
    copyTag: 'Copy the tag',
    copied: 'Copied',
    notCopied: 'The browser did not allow it. Select the text, and copy it.',
    copyOf: (value: string) => `Copy ${value}`,
    pages: 'pages',
    rows: (from: number, to: number, total: number) => `${from}–${to} of ${total.toLocaleString('en')}`,
    newer: 'Newer',
    older: 'Older',
    noMatch: 'Nothing matches these filters.',
    clearFilters: 'Clear the filters',
    retry: 'Try again',
    all: 'All',
    period: 'Period',
    anyTime: 'Any time',
    periods: {
      today: 'Today',
      '7-days': 'Last 7 days',
      month: 'This month',
      'last-month': 'Last month',
      quarter: 'This quarter',
      'last-quarter': 'Last quarter',
      year: 'This year',
      'last-year': 'Last year',
      custom: 'From … until …',
    },
    from: 'From',
    until: 'Until',
    daysIn: (zone: string) => `Days in ${zone}`,
    timesIn: (zone: string) => `Times and days: ${zone}`,
    optional: 'optional',
    secret:
      'That looks like a private key or the words of a wallet. It was not sent. Anyone who knows it can spend everything: move the coins to a new wallet.',
    commandLine: 'Command line only',
    age: (seconds: number) => {
      const minutes = Math.floor(seconds / 60);
      const hours = Math.floor(minutes / 60);
      if (hours >= 48) return `${Math.floor(hours / 24)} days ago`;
      if (hours >= 1) return `${hours} h ago`;
      return minutes >= 1 ? `${minutes} min ago` : `${seconds} s ago`;
    },
    actions: 'Actions',
    firstPayment: 'Copy this tag into a page of your shop, or make a payment here and send its link.',
  },
});

export const shellTexts = pick({
  en: {
    mode: 'Mode',
    test: 'Test mode',
    testHint: 'No real money. Nobody can pay here with real coins.',
    live: 'Live',
    noLive: 'Live is not set up here',
    noTest: 'Test mode is not set up here',
    clock: (aheadMs: number) => {
      const minutes = Math.floor(aheadMs / 60_000);
      const hours = Math.floor(minutes / 60);
      const ahead =
        hours >= 48 ? `${Math.floor(hours / 24)} d` : hours >= 1 ? `${hours} h` : `${minutes} min`;
      return `Test clock +${ahead}`;
    },
    toTest: 'Switch to test mode',
    toLive: 'Switch to live',
    signOut: 'Sign out',
    signOutEverywhere: 'Sign out everywhere',
    waiting: (label: string, count: number) => `${label}, ${count} to do`,
    undo: 'Undo',
    undone: 'Undone',
    searchHint: 'Order, e-mail, name, sum, address or transaction',
    notFoundTitle: 'Page not found',
    missingTitle: 'Record not found',
    mayNotTitle: 'Not for your role',
    failed: 'The page could not be loaded',
    notFound: 'There is no such page.',
    toHome: 'To the start page',
    mayNot: (role: string) =>
      `The role ${role} does not see this page. An owner can change roles under Settings, Team.`,
    requestId: (id: string) => `Request ${id}`,
    problems: {
      offline: 'No reply from the server. Check the connection. Only what you see here was changed.',
      rate_limited: (seconds: number) => `Too many calls. Try again in ${seconds} s.`,
      not_found: 'It does not exist, or not in this mode.',
      forbidden: 'Your role does not allow this.',
      unexpected: 'The server’s reply was not understood. Its log has more under the request’s id.',
    },
  },
});

export const signInTexts = pick({
  en: {
    title: 'Sign in',
    working: 'Signing in…',
    text: 'There are no passwords here. Use a passkey, or open the sign-in link that you were sent: it works once, for 30 minutes.',
    lost: 'No link, or it has ended? An owner of the shop makes a new one under Settings, Team. The server’s operator makes one with this command; “merchants list” shows the shop’s ID:',
    command: 'users invite --merchant ID --email you@shop.example --role owner',
    ended: 'This link has ended: it works once, for 30 minutes.',
    passkey: 'Sign in with a passkey',
  },
});
