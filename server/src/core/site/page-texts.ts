/**
 * The languages of the pages for payers: the widget's ten. `texts/` has a file for each, with the texts of the hosted page, the
 * receipt and the page where a payer claims a refund. Only the English has been checked by a native reader.
 */
import type { PaymentState } from 'crypto-checkout/contract';
import ar from './texts/ar.json' with { type: 'json' };
import en from './texts/en.json' with { type: 'json' };
import es from './texts/es.json' with { type: 'json' };
import fr from './texts/fr.json' with { type: 'json' };
import ha from './texts/ha.json' with { type: 'json' };
import ig from './texts/ig.json' with { type: 'json' };
import pt from './texts/pt.json' with { type: 'json' };
import sw from './texts/sw.json' with { type: 'json' };
import yo from './texts/yo.json' with { type: 'json' };
import zh from './texts/zh.json' with { type: 'json' };

/**
 * In `hosted`, `{shop}` is the merchant's name; in `receipt`, `{time}` is when the page was answered, and `{count}`
 * transfers of `{amount}` together are not listed. The script of the page for claims fills in the braces in `claim`.
 */
export interface PageTexts extends Readonly<typeof en> {
  readonly receipt: typeof en.receipt & { readonly states: Readonly<Record<PaymentState, string>> };
}

const texts: Readonly<Record<string, PageTexts>> = { ar, en, es, fr, ha, ig, pt, sw, yo, zh };

export const languages: readonly string[] = Object.keys(texts);

export interface PageLocale {
  /** As the payer asked for it, such as fr-CA: for `lang`, so that numbers follow the region. */
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
    const found = languageTag.test(tag) && Object.hasOwn(texts, language) ? texts[language] : undefined;
    if (found) return { tag, language, isRtl: language === 'ar', texts: found };
  }
  return { tag: 'en', language: 'en', isRtl: false, texts: en };
}
