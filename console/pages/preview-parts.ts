/** The checkout as payers see it, in a language and a theme, with the matching tag. */
import { html, nothing, type TemplateResult } from 'lit';
import { codes as locales } from '../../src/messages/codes.js';
import { languageName } from '../../src/platform.js';
import { texts } from '../messages/settings.js';
import type { View } from '../page.js';
import { section } from '../ui/details.js';
import { filterBar } from '../ui/filter-bar.js';
import { widgetTag } from '../ui/teach-tag.js';

const themes = ['light', 'dark'] as const;

/** The server's own build of the element, as shops load it. Without it, there is only the tag. */
export async function loadWidget({ apiUrl }: View): Promise<void> {
  const script = `${location.origin}${apiUrl}/crypto-checkout.js`;
  await (import(/* @vite-ignore */ script) as Promise<unknown>).catch(() => {});
}

export interface Shown {
  readonly name: string;
  readonly logo: string;
  /** Undefined for roles that may not see keys. */
  readonly publicKey: string | undefined;
}

export function previewSection({ name, logo, publicKey }: Shown, view: View): TemplateResult {
  const locale = locales.find((one) => one === view.query.get('locale')) ?? 'en';
  const theme = themes.find((one) => one === view.query.get('theme')) ?? 'auto';
  const key = publicKey ?? `pk_${view.mode}_…`;
  const attributes = `\n  locale="${locale}" theme="${theme}"`;
  return section(
    texts.preview,
    html`${filterBar(view, [
        {
          name: 'locale',
          label: texts.language,
          none: languageName('en'),
          options: locales.map((one) => [one, languageName(one)]),
        },
        {
          name: 'theme',
          label: texts.theme,
          none: texts.themes.auto,
          options: themes.map((one) => [one, texts.themes[one]]),
        },
      ])}
      <div class="preview" inert>
        <crypto-checkout
          api-url=${location.origin + view.apiUrl}
          public-key=${key}
          amount="49.90"
          base-currency="USD"
          locale=${locale}
          theme=${theme}
          merchant-name=${name}
          merchant-logo=${logo || nothing}
        ></crypto-checkout>
      </div>
      <p>${texts.previewText}</p>
      ${widgetTag(view, publicKey, attributes)}`,
  );
}
