/** Loads the texts of the check of a transfer, in the language that the page has already. */
import type { TransferMessages } from './en.js';
import type { PageLanguage } from './load.js';

type Source = () => Promise<{ readonly texts: TransferMessages }>;

const english: Source = () => import('./en-transfer.js');

const sources: Readonly<Record<string, Source>> = {
  en: english,
  fr: () => import('./fr-transfer.js'),
  es: () => import('./es-transfer.js'),
  pt: () => import('./pt-transfer.js'),
  ar: () => import('./ar-transfer.js'),
  ha: () => import('./ha-transfer.js'),
  yo: () => import('./yo-transfer.js'),
  ig: () => import('./ig-transfer.js'),
  sw: () => import('./sw-transfer.js'),
  zh: () => import('./zh-transfer.js'),
  'ar-xb': async () => ({ texts: (await import('./pseudo.js')).textsTransfer }),
};

export async function loadTransferTexts(code: string): Promise<TransferMessages> {
  const load = sources[code] ?? english;
  return (await load().catch(english)).texts;
}

/** Rejects if not even English can be loaded. */
export async function addTransferTexts(language: PageLanguage): Promise<void> {
  const { code, isRtl } = language;
  // English from right to left is the pseudo-language.
  const texts = await loadTransferTexts(code === 'en' && isRtl ? 'ar-xb' : code);
  // Another language may have been asked for in the meantime.
  if (language.code === code) language.texts = { ...language.texts, ...texts };
}
