/** `books …`: the changes to a merchant's balances, for its accountant. */
import {
  api,
  bookFile,
  bookProfiles,
  wholeBookFile,
  type Booking,
  type BookFile,
  type BookProfile,
  type DatevSettings,
  type LeftOut,
} from 'crypto-checkout/contract';
import { command, type Group, type Output } from '../../core/commands/command.js';
import type { CommandContext } from '../../core/commands/context.js';
import { UsageError } from '../../core/commands/errors.js';
import { writeNewFile } from '../../core/commands/files.js';
import * as option from '../../core/commands/options.js';
import { withoutControls } from '../../core/commands/printable.js';
import { queryOptions, readQuery } from '../../core/commands/query-options.js';
import { counted } from '../../core/commands/records.js';
import type { Scope } from '../../core/shared/scope.js';
import type { Books, BooksSum } from './books.js';
import type { Period } from './period.js';

const datevOptions = {
  consultant: option.integer('N', "DATEV: the consultant's number (Beraternummer)", {
    min: 1001,
    max: 9_999_999,
  }),
  client: option.integer('N', "DATEV: the client's number (Mandantennummer)", { min: 1, max: 99_999 }),
  account: option.text('NUMBER', 'DATEV: the account that the balances are, 4 to 8 digits, such as 1370'),
  contraAccount: option.text(
    'NUMBER',
    'DATEV: the account on the other side of all bookings, as long, such as 1590, from which the accountant moves them on',
  ),
  fiscalYear: option.text(
    'DAY',
    'DATEV: the first day of the fiscal year (default: January 1st of the first day)',
  ),
};

/** @param rules finds the rules of a running command */
export const bookCommands = (rules: (context: CommandContext) => Books): Group => ({
  name: 'books',
  summary: "A merchant's books, for the person who keeps its accounts.",
  commands: {
    export: command({
      summary:
        'Exports all that changed the balances of a merchant in a period, oldest first: one line per booking, with its value at that time.',
      details: `A booking belongs to the time at which it was posted, so that a period that is over never changes: what is corrected later is a line of its own, when it is corrected. The bookings of a period add up to the difference of the balances at its ends; the command checks that, says both, and exits with 1 if they differ. To close a month, use this command, not "payments export", which goes by the creation of payments. docs/accounting.md explains the columns.

--profile writes the columns that an accounting program imports, in the merchant's currency (merchants update --books-currency): bookings that have no value, or moved nothing, are left out, and counted. Text that a spreadsheet would take for a formula gets an apostrophe in front.`,
      options: {
        merchant: option.merchant('the merchant').required(),
        mode: option.mode('the mode of the bookings'),
        ...queryOptions(api.books.list.query, ['month', 'from', 'to', 'zone']),
        format: option
          .oneOf(['csv', 'json'], 'csv, or json: an array with one booking on each line', {
            isNotJson: (given) => given !== 'json',
          })
          .default('csv'),
        profile: option.oneOf(bookProfiles, 'the columns of an accounting program, instead of all'),
        ...datevOptions,
        output: option.newFile('a new file to write to, readable only by you (default: stdout)'),
      },
      async run(running, given) {
        const context = { ...running, books: rules(running) };
        const { merchant: merchantId, mode, output } = given;
        const period = context.books.period(readQuery(api.books.list.query, given));
        const currency = await context.books.currency(merchantId);
        const file = fileFor(given, { ...period, currency });
        await context.books.nameMerchants();
        const scope = { merchantId, mode };
        if (output !== undefined) {
          const written = await writeNewFile(output, (handle) =>
            write(context, scope, period, file, (text) => handle.appendFile(encoded(text, file))),
          );
          return summary(context, scope, period, written, { currency, file: output });
        }
        if (file?.encoding === 'windows-1252') {
          throw new UsageError(
            `--profile ${given.profile ?? ''} needs --output: it is not written in the characters of a terminal`,
          );
        }
        const written = await write(context, scope, period, file, (text) => context.print(text));
        const { text, hasFailed = false } = summary(context, scope, period, written, { currency });
        context.progress(text);
        return { json: undefined, text: '', isPrinted: true, hasFailed };
      },
    }),
  },
});

interface BooksContext extends CommandContext {
  readonly books: Books;
}

interface Given {
  readonly format: 'csv' | 'json';
  readonly profile: BookProfile | undefined;
  readonly consultant: number | undefined;
  readonly client: number | undefined;
  readonly account: string | undefined;
  readonly contraAccount: string | undefined;
  readonly fiscalYear: string | undefined;
}

/** Undefined: as JSON. @throws UsageError */
function fileFor(given: Given, period: Period & { readonly currency: string }): BookFile | undefined {
  const { format, profile } = given;
  if (profile !== undefined && format === 'json') {
    throw new UsageError('--profile writes CSV: leave out --format json');
  }
  const isDatev = profile === 'datev';
  for (const name of Object.keys(datevOptions) as (keyof typeof datevOptions)[]) {
    if (given[name] !== undefined && !isDatev) throw new UsageError('Options for DATEV need --profile datev');
  }
  if (format === 'json') return undefined;
  if (profile === undefined) return wholeBookFile;
  return bookFile(profile, period, isDatev ? datevSettings(given, period) : undefined);
}

function datevSettings(given: Given, { firstDay, lastDay }: Period): DatevSettings {
  const { consultant, client, account, contraAccount, fiscalYear = `${firstDay.slice(0, 4)}-01-01` } = given;
  if (
    consultant === undefined ||
    client === undefined ||
    account === undefined ||
    contraAccount === undefined
  ) {
    throw new UsageError('--profile datev needs --consultant, --client, --account and --contra-account');
  }
  if (
    !/^\d{4,8}$/.test(account) ||
    !/^\d{4,8}$/.test(contraAccount) ||
    account.length !== contraAccount.length
  ) {
    throw new UsageError('--account and --contra-account must have 4 to 8 digits each, both as many');
  }
  if (!/^\d{4}-\d\d-\d\d$/.test(fiscalYear)) {
    throw new UsageError(`--fiscal-year must be a day such as 2026-01-01, not "${fiscalYear}"`);
  }
  // Dates in the file have no year.
  const nextYear = `${Number(fiscalYear.slice(0, 4)) + 1}${fiscalYear.slice(4)}`;
  if (firstDay < fiscalYear || lastDay >= nextYear) {
    throw new UsageError(`The period must be within the fiscal year that begins on ${fiscalYear}`);
  }
  return { consultant, client, account, contraAccount, fiscalYear };
}

const encoded = (text: string, file: BookFile | undefined) =>
  file?.encoding === 'windows-1252' ? Buffer.from(text, 'latin1') : text;

interface Written {
  readonly sums: readonly BooksSum[];
  /** The number of bookings, and of lines in the file. */
  readonly bookings: number;
  readonly lines: number;
  readonly withoutValue: number;
  readonly leftOut: Readonly<Record<LeftOut, number>>;
}

const progressEvery = 10_000;

function write(
  context: BooksContext,
  scope: Scope,
  period: Period,
  file: BookFile | undefined,
  print: (text: string) => Promise<void>,
): Promise<Written> {
  // One moment for all of it, so that the sums are those of the lines.
  return context.database.snapshot(async (reader) => {
    const count = { bookings: 0, lines: 0, withoutValue: 0 };
    const leftOut = { nothing: 0, unvalued: 0, tiny: 0 };
    const textOf = (booking: Booking): string => {
      if (!file) return `${count.bookings === 0 ? '' : ','}\n${JSON.stringify(booking)}`;
      const line = file.line(booking);
      if ('text' in line) return line.text;
      leftOut[line.leftOut] += 1;
      return '';
    };
    await print(file ? file.head : '[');
    const pages = context.books.read(reader, scope, period);
    for (;;) {
      const page = await pages.next();
      if (page.done === true) {
        if (!file) await print('\n]\n');
        return { ...count, leftOut, sums: page.value };
      }
      let text = '';
      for (const booking of page.value) {
        const line = textOf(booking);
        text += withoutControls(line);
        if (line !== '') count.lines += 1;
        if (booking.value === undefined) count.withoutValue += 1;
        count.bookings += 1;
        if (count.bookings % progressEvery === 0) context.progress(`${count.bookings} bookings`);
      }
      await print(text);
    }
  });
}

function summary(
  { books }: BooksContext,
  scope: Scope,
  period: Period,
  { sums, ...count }: Written,
  { currency, file }: { readonly currency: string; readonly file?: string },
): Output {
  const isFinal = books.isFinal(scope, period);
  const wrong = sums.filter(({ end, accounts }) => end !== accounts);
  const { unvalued, tiny } = count.leftOut;
  const noRate = 'no rate is known within 10 minutes of them';
  const lines = [
    `${file === undefined ? '' : `Wrote ${file}: `}${counted(count.bookings, 'booking')} from ${period.firstDay} to ${period.lastDay}, ${period.zone}`,
    ...sums.map((sum) => sumLine(sum, (units) => books.amountText(units, sum.asset))),
    ...(wrong.length > 0
      ? ['This export is not whole: do not use it. Run "ledger check", and send its output to the developers']
      : []),
    ...(isFinal
      ? []
      : ['The period is not over for good: what is booked until 15 minutes after its end is still to come']),
    ...(scope.mode === 'test'
      ? ['Test mode: its months change when test data is wiped or a test clock is moved']
      : []),
    ...(tiny > 0
      ? [`Left out: ${counted(tiny, 'booking')} worth less than the smallest amount of ${currency}`]
      : []),
    ...(unvalued > 0
      ? [`Left out: ${counted(unvalued, 'booking')} without a value in ${currency}, as ${noRate}`]
      : []),
    ...(count.withoutValue > unvalued
      ? [`Without a value in ${currency}: ${counted(count.withoutValue - unvalued, 'booking')}, as ${noRate}`]
      : []),
  ];
  return {
    json: {
      ...(file !== undefined && { file }),
      bookings: count.bookings,
      lines: count.lines,
      withoutValue: count.withoutValue,
      from: period.firstDay,
      to: period.lastDay,
      zone: period.zone,
      currency,
      isFinal,
      sums: sums.map(({ asset, ...sum }) => ({
        asset,
        ...Object.fromEntries(
          Object.entries(sum).map(([name, units]) => [name, books.amountText(units, asset)]),
        ),
      })),
    },
    text: lines.join('\n'),
    hasFailed: wrong.length > 0,
  };
}

function sumLine({ asset, begin, moved, end, accounts }: BooksSum, text: (units: bigint) => string): string {
  const line = `${asset}: ${text(begin)} at the beginning, ${text(moved)} booked, ${text(end)} at the end`;
  return end === accounts ? line : `${line}, but the accounts say ${text(accounts)}`;
}
