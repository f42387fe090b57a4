/**
 * The languages of the pages for payers: the widget's, each with the texts of the hosted page, the receipt and the page where a payer
 * claims a refund. `npm run lists` collects them from `src/messages/`. Only the English has been checked by a native reader.
 */
import type { PaymentState } from 'crypto-checkout/contract';
import data from './page-texts.json' with { type: 'json' };

type English = (typeof data)['en']['texts'];

/**
 * In `hosted`, `{shop}` is the merchant's name; in `receipt`, `{time}` is when the page was answered, and `{count}`
 * transfers of `{amount}` together are not listed. In `claim`, `{days}` is the number of days for which a link is valid; the page's
 * script fills in the other braces.
 */
export interface PageTexts extends Readonly<English> {
  readonly receipt: English['receipt'] & { readonly states: Readonly<Record<PaymentState, string>> };
}

const pages: Readonly<Record<string, { readonly isRtl: boolean; readonly texts: PageTexts }>> = data;

export const languages: readonly string[] = Object.keys(pages);

export interface PageLocale {
  /** The tag that the payer requested, such as fr-CA: for `lang`, so that numbers follow the region. */
  readonly tag: string;
  readonly language: string;
  readonly isRtl: boolean;
  readonly texts: PageTexts;
}

const languageTag = /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i;

/** The first of the payer's languages that there is; English if there is none. @param tags best first */
export function pickLocale(tags: readonly string[]): PageLocale {
  for (const tag of tags) {
    const language = tag.toLowerCase().split('-')[0] ?? '';
    const found = languageTag.test(tag) && Object.hasOwn(pages, language) ? pages[language] : undefined;
    if (found) return { tag, language, ...found };
  }
  return { tag: 'en', language: 'en', ...data.en };
}
