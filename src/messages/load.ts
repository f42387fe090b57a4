/** Finds the language of a page, and loads its texts. */
import { formatAmount } from '../money/format.js';
import { englishPrices, type PriceStyle } from '../money/price.js';
import { fetchCode } from '../fetch-code.js';
import { supportedLocales } from '../platform.js';
import { within } from '../within.js';
import type { AfterQrMessages, Messages } from './en.js';
import type { TextValues } from './plural.js';
import type { LoadedMessages, Source } from './source.js';
import { translations } from './sources.js';

export interface Language {
  /** The language of the texts. */
  readonly code: string;
  readonly isRtl: boolean;
  /** The locale of numbers and times: the one that the page asked for, unless the browser does not know it. */
  readonly locale: () => string | undefined;
  /** Undefined if only Intl knows the locale's price format. */
  readonly prices: PriceStyle | undefined;
  readonly texts: LoadedMessages;
  readonly loadAfterQr: () => Promise<AfterQrMessages>;
  /** Called if texts could not be loaded, and English takes their place. */
  readonly onMissing: () => void;
}

/** A language's further texts, loaded after the first ones. */
type Part = (language: Language) => Promise<Partial<Messages>>;

const english: Source = {
  first: async () => ({ texts: (await import('./en.js')).en, prices: englishPrices }),
  afterQr: async () => ({ texts: (await import('./en-after-qr.js')).enAfterQr }),
};

const sources: Readonly<Record<string, Source>> = {
  ...translations,
  en: english,
  // The pseudo-language, for trying layouts: English, longer by 40 %, from right to left.
  'ar-xb': {
    first: () => import('./pseudo.js'),
    afterQr: async () => ({ texts: (await import('./pseudo.js')).textsAfterQr }),
    isRtl: true,
  },
};

/** A chunk that hangs must not keep a payer waiting. */
const patienceMs = 4_000;

/**
 * Loads the texts of a page's language, or English where there is no such language or it does not load.
 *
 * @param tag a BCP 47 tag, such as fr-CA
 * @param onMissing called if texts could not be loaded, and English takes their place
 * @throws if English does not load either
 */
export async function loadLanguage(tag: string, onMissing: () => void = () => {}): Promise<Language> {
  const wanted = tag.toLowerCase();
  const [base = ''] = wanted.split('-');
  const code = [wanted, base].find((one) => Object.hasOwn(sources, one)) ?? 'en';
  const source = sources[code] ?? english;
  try {
    return await load(source, code === 'ar-xb' ? 'en' : code, tag, onMissing);
  } catch {
    onMissing();
    return load(english, 'en', tag, onMissing);
  }
}

async function load(source: Source, code: string, tag: string, onMissing: () => void): Promise<Language> {
  const { first, afterQr, isRtl = false } = source;
  const { texts, prices } = await within(patienceMs, fetchCode(first));
  const loadAfterQr = async () => {
    try {
      return (await within(patienceMs, fetchCode(afterQr))).texts;
    } catch {
      onMissing();
      return (await fetchCode(english.afterQr)).texts;
    }
  };
  let locales: readonly (string | undefined)[] | undefined;
  const locale = () => (locales ??= [...supportedLocales(tag), source.locale])[0];
  return { code, isRtl, locale, prices: prices?.[tag], texts, loadAfterQr, onMissing };
}

/**
 * Amounts go from left to right, in an Arabic locale too: "49.90 US$". Text with Arabic letters sets its own direction.
 */
export function isolate(values: TextValues): TextValues {
  const isolated = Object.entries(values).map(([name, value]) => {
    const start = /[\u0620-\u064a]/.test(String(value)) ? '\u2068' : '\u2066';
    return [name, typeof value === 'number' ? value : `${start}${value}\u2069`];
  });
  return Object.fromEntries(isolated) as TextValues;
}

interface Page {
  /** The language that the page asks for now. */
  readonly tag: string;
  readonly requestUpdate: () => void;
}

/** The language of an element's page. It changes when the page asks for another. */
export class PageLanguage {
  readonly #page: Page;
  #tag = '';
  #isLoaded: Promise<void> = Promise.resolve();
  #language: Language | undefined;
  readonly #parts = new Set<Part>();
  /** True if English stands in for texts of the language. */
  #isMissing = false;
  /** Undefined until the first ones are loaded. */
  texts: Partial<Messages> | undefined;

  constructor(page: Page) {
    this.#page = page;
  }

  get code(): string {
    return this.#language?.code ?? 'en';
  }

  get isRtl(): boolean {
    return this.#language?.isRtl ?? false;
  }

  get locale(): string | undefined {
    return this.#language ? this.#language.locale() : 'en';
  }

  get prices(): PriceStyle | undefined {
    return this.#language?.prices;
  }

  /** Formats an amount for reading with Intl, whose first use takes a slow phone 100 ms. */
  formatAmount(value: number | string, currency: string): string {
    return formatAmount(value, currency, this.locale);
  }

  /** Keeps each value's own direction inside right-to-left text. */
  isolate(values: TextValues): TextValues {
    return this.isRtl ? isolate(values) : values;
  }

  /** Loads and shows the texts in the page's language, unless they are here. Rejects if not even English can be loaded. */
  follow(): Promise<void> {
    const { tag } = this.#page;
    if (tag !== this.#tag) {
      this.#tag = tag;
      this.#isLoaded = this.#load(tag).then(this.#page.requestUpdate);
      // The next call tries again.
      this.#isLoaded.catch(() => (this.#tag = ''));
    }
    return this.#isLoaded;
  }

  /** Asks again for texts that could not be loaded. */
  retry(): void {
    if (!this.#isMissing) return;
    this.#isMissing = false;
    this.#tag = '';
    this.follow().catch(() => undefined);
  }

  /** Loads a part, for this language and every next one. The caller shows it: an update that began here could ask for it again. */
  async add(part: Part): Promise<void> {
    this.#parts.add(part);
    await this.follow();
    await this.#load(this.#tag);
  }

  async #load(tag: string): Promise<void> {
    const language = await loadLanguage(tag, () => (this.#isMissing = true));
    const parts = await Promise.all(Array.from(this.#parts, (part) => part(language)));
    // Another language may have been requested in the meantime.
    if (tag !== this.#tag) return;
    this.#language = language;
    this.texts = Object.assign({}, language.texts, ...parts) as Partial<Messages>;
  }
}
