/** The element's texts and prices, in the language of its page. */
import { isNothing } from './checkout/order.js';
import { fetchCode } from './fetch-code.js';
import { enStart } from './messages/en-start.js';
import type { Messages } from './messages/en.js';
import { fill } from './messages/fill.js';
import type { PageLanguage } from './messages/load.js';
import { englishPrices, priceText, roughPrice } from './money/price.js';
import { whenPainted } from './platform.js';
import type { FirstContext } from './views/view.js';

interface TextsHost extends HTMLElement {
  /** The language that the element's own attribute asks for. */
  readonly locale: string | undefined;
  readonly messages: Partial<Messages> | undefined;
  readonly hasUpdated: boolean;
  requestUpdate(): void;
}

const start: Partial<Messages> = enStart;
/** A page in another language does not show English first, unless its texts are slow to load. */
const languageWaitMs = 1_000;
/** False until the page has had time for the first use of Intl, which takes a slow phone 100 ms. */
let isIntlReady = false;

export class ElementTexts {
  readonly #host: TextsHost;
  #waitsForIntl = false;
  /** The language that was loaded for the page, or failed to load: an update does not ask for it again. */
  #followed: string | undefined;
  /** Undefined until it is loaded. Until then, the texts are English. */
  language: PageLanguage | undefined;

  constructor(host: TextsHost) {
    this.#host = host;
  }

  /** The language that the page asks for, not checked yet. */
  get tag(): string {
    // pt_BR, as servers write it.
    return (
      (isNothing(this.#host.locale) ? '' : this.#host.locale) ||
      languageOf(this.#host) ||
      navigator.language
    ).replace(/_/g, '-');
  }

  get #isEnglish(): boolean {
    return /^en\b/i.test(this.tag);
  }

  /** Follows the page's language. Resolves when there are texts to draw. */
  async follow(): Promise<void> {
    // The pay button's English is here already.
    const { tag } = this;
    if (tag === this.#followed || (!this.language && this.#isEnglish)) return;
    this.#followed = tag;
    const isLoaded = this.load().catch(() => undefined);
    const wait = () => new Promise((resolve) => setTimeout(resolve, languageWaitMs));
    if (!this.#host.hasUpdated) await Promise.race([isLoaded, wait()]);
  }

  /** Loads the texts in the language that the page asks for, and shows them. Rejects if not even English can be loaded. */
  async load(): Promise<void> {
    // Uses Intl for the first time while a reply is pending.
    if (this.#isEnglish) fetchCode(() => import('./messages/en.js')).catch(() => undefined);
    const { PageLanguage } = await fetchCode(() => import('./messages/load.js'));
    this.language ??= new PageLanguage(this);
    await this.language.follow();
  }

  readonly requestUpdate = (): void => this.#host.requestUpdate();

  readonly text: FirstContext['text'] = (key, values = {}) => {
    const { language } = this;
    const text = this.#host.messages?.[key] ?? (language?.texts ?? start)[key] ?? '';
    return fill(text, language?.isolate(values) ?? values);
  };

  /** For numbers and times, once the language is loaded. */
  readonly locale = (): string | undefined => this.language?.locale;

  readonly money: FirstContext['money'] = (value, currency) => {
    const { language } = this;
    if (language && isIntlReady) return language.formatAmount(value, currency);
    const style = language ? language.prices : englishPrices[this.tag];
    return priceText(value, currency, style) ?? this.#roughPrice(value, currency);
  };

  /** Uses Intl for the first time, while a reply is awaited. */
  prepareIntl(): void {
    setTimeout(() => {
      isIntlReady = true;
      this.money(0, 'USD');
    });
  }

  #roughPrice(value: number | string, currency: string): string {
    if (!this.#waitsForIntl) {
      this.#waitsForIntl = true;
      // Once the page has been painted and is idle.
      whenPainted(() => void this.#loadIntl());
    }
    return roughPrice(value, currency);
  }

  async #loadIntl(): Promise<void> {
    await this.load().catch(() => undefined);
    isIntlReady = true;
    this.requestUpdate();
  }
}

/** The nearest `lang`, across shadow roots; empty if there is none. */
function languageOf(element: Element): string {
  const root = element.getRootNode();
  const nearest = element.closest<HTMLElement>('[lang]')?.lang;
  return nearest ?? (root instanceof ShadowRoot ? languageOf(root.host) : '');
}
