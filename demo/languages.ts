/** The languages of the checkout, each named in itself. `npm run lists` writes this file from `src/messages/`. */
export const languages: Readonly<Record<string, string>> = {
  ar: 'العربية',
  zh: '中文',
  en: 'English',
  fr: 'Français',
  ha: 'Hausa',
  ig: 'Igbo',
  pt: 'Português',
  es: 'Español',
  sw: 'Kiswahili',
  yo: 'Yorùbá',
};
