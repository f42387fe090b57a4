/** Loads the texts of the check of a transfer, in a language. */
import { fetchCode } from '../fetch-code.js';
import type { TransferMessages } from './en.js';
import type { Language } from './load.js';
import type { TransferSource } from './source.js';
import { translations } from './transfer-sources.js';

const english: TransferSource = () => import('./en-transfer.js');

const sources: Readonly<Record<string, TransferSource>> = {
  ...translations,
  'ar-xb': async () => ({ texts: (await import('./pseudo.js')).textsTransfer }),
};

/** The part of the texts. Rejects if not even English can be loaded. */
export async function loadTransferTexts({
  code,
  isRtl,
  onMissing,
}: Pick<Language, 'code' | 'isRtl' | 'onMissing'>): Promise<TransferMessages> {
  // English from right to left is the pseudo-language.
  const load = sources[code === 'en' && isRtl ? 'ar-xb' : code] ?? english;
  try {
    return (await fetchCode(load)).texts;
  } catch {
    onMissing();
    return (await fetchCode(english)).texts;
  }
}
