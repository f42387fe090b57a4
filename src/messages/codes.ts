/** The codes of the languages that the widget has texts in, in addition to English. `npm run lists` writes this file from `src/messages/`. */
export const codes = ['ar', 'es', 'fr', 'ha', 'ig', 'pt', 'sw', 'yo', 'zh'] as const;
