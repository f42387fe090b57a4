/** Texts of the books. */
import type { BookProfile } from '../../src/contract/book-files.js';
import type { BookingKind } from '../../src/contract/books.js';
import { pick } from './pick.js';

const kinds: Readonly<Record<BookingKind, string>> = {
  receipt: 'Receipt',
  credit: 'Credit',
  fee: 'Fee',
  refund: 'Refund',
  transfer: 'Transfer',
  network_fee: 'Network fee',
  payout: 'Payout',
  correction: 'Correction',
};

const profiles: Readonly<Record<BookProfile, string>> = {
  xero: 'Xero (bank statement)',
  quickbooks: 'QuickBooks Online (bank, 3 columns)',
  datev: 'DATEV (Buchungsstapel)',
  koinly: 'Koinly (universal)',
};

export const texts = pick({
  en: {
    kinds,
    profiles,
    title: 'Books',
    zone: 'Time zone',
    balances: 'Balances',
    asset: 'Coin',
    begin: 'At the beginning',
    end: 'After this page',
    open: 'This period is not over: more will be booked in it.',
    bookings: 'Bookings',
    time: 'Booked',
    kind: 'Kind',
    amount: 'Change',
    balance: 'Balance',
    value: 'Value',
    about: 'About',
    period: (days: string, zone: string) => `${days}, ${zone}`,
    nothing: 'Nothing was booked in this period. Payments are booked once they have their confirmations.',
    toPayments: 'To the payments',
    toThisMonth: 'This month',
    first: 'From the beginning',
    more: 'Later bookings',
    save: 'Save as a file…',
    saveTitle: 'Save the period as a file',
    saveText: 'One line per booking. The columns are explained in the guide “Accounting”.',
    columns: 'Columns',
    all: 'All columns (CSV)',
    saveAction: 'Save',
    datevTitle: 'For DATEV',
    datevText: 'Your accountant knows these numbers. All bookings are between the two accounts.',
    consultant: 'Consultant’s number (Beraternummer)',
    client: 'Client’s number (Mandantennummer)',
    account: 'Account of the balances, such as 1370',
    contraAccount: 'Account on the other side, such as 1590',
    fiscalYear: 'First day of the fiscal year',
    wrongAccounts: 'Both accounts must have 4 to 8 digits, and as many as each other',
    progress: (count: number) => `${count} bookings`,
    saved: (count: number) => `Saved: ${count} bookings`,
    leftOut: (count: number, currency: string) =>
      `${count} bookings are not in the file: they have no value in ${currency}, or less than its smallest amount.`,
  },
});
