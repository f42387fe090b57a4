/** The texts of the check of a transfer in each language. `npm run lists` writes this file from `src/messages/`. */
import type { TransferSource } from './source.js';

export const translations: Readonly<Record<string, TransferSource>> = {
  ar: () => import('./ar/ar-transfer.js'),
  es: () => import('./es/es-transfer.js'),
  fr: () => import('./fr/fr-transfer.js'),
  ha: () => import('./ha/ha-transfer.js'),
  ig: () => import('./ig/ig-transfer.js'),
  pt: () => import('./pt/pt-transfer.js'),
  sw: () => import('./sw/sw-transfer.js'),
  yo: () => import('./yo/yo-transfer.js'),
  zh: () => import('./zh/zh-transfer.js'),
};
