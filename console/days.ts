/** Ranges of days as people read them. */
import { language } from './messages/pick.js';

/** Both days, as `1 – 31 Oct 2026`; one, if they are the same. */
export const daysFrom = (first: string, last: string): string =>
  new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).formatRange(
    new Date(first),
    new Date(last),
  );
