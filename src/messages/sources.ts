/** The texts of each language up to the QR code, and after it. `npm run lists` writes this file from `src/messages/`. */
import type { Source } from './source.js';

export const translations: Readonly<Record<string, Source>> = {
  ar: { first: () => import('./ar/ar.js'), afterQr: () => import('./ar/ar-after-qr.js'), isRtl: true },
  es: { first: () => import('./es/es.js'), afterQr: () => import('./es/es-after-qr.js') },
  fr: { first: () => import('./fr/fr.js'), afterQr: () => import('./fr/fr-after-qr.js') },
  ha: { first: () => import('./ha/ha.js'), afterQr: () => import('./ha/ha-after-qr.js'), locale: 'en-NG' },
  ig: { first: () => import('./ig/ig.js'), afterQr: () => import('./ig/ig-after-qr.js'), locale: 'en-NG' },
  pt: { first: () => import('./pt/pt.js'), afterQr: () => import('./pt/pt-after-qr.js') },
  sw: { first: () => import('./sw/sw.js'), afterQr: () => import('./sw/sw-after-qr.js'), locale: 'en-KE' },
  yo: { first: () => import('./yo/yo.js'), afterQr: () => import('./yo/yo-after-qr.js'), locale: 'en-NG' },
  zh: { first: () => import('./zh/zh.js'), afterQr: () => import('./zh/zh-after-qr.js') },
};
