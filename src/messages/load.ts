/** Finds the language of a page, and loads its texts. */
import type { FirstMessages, LaterMessages } from './en.js';

export interface Language {
  /** What the texts are in, for `lang`. */
  readonly code: string;
  readonly isRtl: boolean;
  /** The locale of numbers and times: what the page asked for, unless the browser does not know it. */
  readonly locale: string | undefined;
  readonly texts: FirstMessages;
  readonly loadLater: () => Promise<LaterMessages>;
}

interface Source {
  readonly first: () => Promise<{ readonly texts: FirstMessages }>;
  readonly later: () => Promise<{ readonly texts: LaterMessages }>;
  readonly isRtl?: boolean;
  /** Used where the browser has no numbers and times of the language itself. */
  readonly locale?: string;
}

const english: Source = {
  first: async () => ({ texts: (await import('./en.js')).en }),
  later: async () => ({ texts: (await import('./en-later.js')).enLater }),
};

const sources: Readonly<Record<string, Source>> = {
  en: english,
  fr: { first: () => import('./fr.js'), later: () => import('./fr-later.js') },
  es: { first: () => import('./es.js'), later: () => import('./es-later.js') },
  pt: { first: () => import('./pt.js'), later: () => import('./pt-later.js') },
  ar: { first: () => import('./ar.js'), later: () => import('./ar-later.js'), isRtl: true },
  ha: { first: () => import('./ha.js'), later: () => import('./ha-later.js'), locale: 'en-NG' },
  yo: { first: () => import('./yo.js'), later: () => import('./yo-later.js'), locale: 'en-NG' },
  ig: { first: () => import('./ig.js'), later: () => import('./ig-later.js'), locale: 'en-NG' },
  sw: { first: () => import('./sw.js'), later: () => import('./sw-later.js'), locale: 'en-KE' },
  zh: { first: () => import('./zh.js'), later: () => import('./zh-later.js') },
  // The pseudo-language, for trying layouts: English, longer by 40 %, from right to left.
  'ar-xb': {
    first: () => import('./pseudo.js'),
    later: async () => ({ texts: (await import('./pseudo.js')).textsLater }),
    isRtl: true,
  },
};

/** A chunk that hangs must not keep a payer waiting. */
const patienceMs = 5_000;

/**
 * Loads the texts of a page's language, or English where there is no such language or it does not load.
 *
 * @param tag a BCP 47 tag, such as fr-CA; undefined for English
 * @throws if English does not load either
 */
export async function loadLanguage(tag = 'en'): Promise<Language> {
  const wanted = tag.toLowerCase();
  const [base = ''] = wanted.split('-');
  const code = [wanted, base].find((one) => Object.hasOwn(sources, one)) ?? 'en';
  const source = sources[code] ?? english;
  const [locale = source.locale] = Intl.NumberFormat.supportedLocalesOf(tag);
  try {
    return await load(source, code === 'ar-xb' ? 'en' : code, locale);
  } catch {
    return load(english, 'en', locale);
  }
}

async function load(source: Source, code: string, locale: string | undefined): Promise<Language> {
  const { first, later, isRtl = false } = source;
  const { texts } = await patiently(first());
  const loadLater = async () => (await patiently(later()).catch(english.later)).texts;
  return { code, isRtl, locale, texts, loadLater };
}

function patiently<T>(loading: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The language takes too long')), patienceMs);
    loading.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
