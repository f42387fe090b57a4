/** The counter: a page for a shop's tablet. Somebody enters an amount, the customer pays at the widget, and a sound says that it came. */
import './counter.css';
import { html, nothing, render, type TemplateResult } from 'lit';
import * as z from 'zod/mini';
import { settingsApi } from '../src/contract/console-settings.js';
import { allows, peopleApi } from '../src/contract/console-people.js';
import { currencies } from '../src/contract/currencies.js';
import { payments } from '../src/contract/payments.js';
import { loadItem, registerWorker, storeItem } from '../src/platform.js';
import { CallFailure, createApi, type Mode } from './api.js';
import { texts } from './messages/counter.js';

/** The facts of the shop that the tablet keeps for times without a connection. No secret key is in it. */
const shopShape = z.object({
  name: z.string(),
  publicKey: z.nullable(z.string()),
  currencies: z.array(z.object({ code: z.string(), decimals: z.number() })),
});
type Shop = z.output<typeof shopShape>;

type State =
  | { readonly name: 'loading' | 'signed-out' | 'not-allowed' }
  | { readonly name: 'amount'; readonly problem?: string }
  | { readonly name: 'asking' }
  | { readonly name: 'payment' | 'paid'; readonly id: string };

const keys = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '.', '0', 'Backspace'] as const;
/** No price of a shop is longer. */
/** Without the cookie, which the browser drops in time, the server asks for a key. */
const signedOutCodes: readonly string[] = ['session_required', 'missing_api_key'];
const mostDigits = 12;

class ShopCounter extends HTMLElement {
  #state: State = { name: 'loading' };
  #shop: Shop | undefined;
  #digits = '';
  #sound: AudioContext | undefined;
  readonly #mode: Mode = new URLSearchParams(location.search).get('mode') === 'live' ? 'live' : 'test';
  readonly #path = this.getAttribute('api-url') ?? '';
  readonly #api = createApi(this.#path, this.#mode);

  connectedCallback(): void {
    this.#shop = this.#known();
    const id = /^#payment=([0-9A-Z]{26})$/.exec(location.hash)?.[1];
    if (this.#shop) this.#show(id === undefined ? { name: 'amount' } : { name: 'payment', id });
    else this.#draw();
    addEventListener('keydown', this.#onKey);
    this.addEventListener('checkout-success', this.#onSuccess);
    void this.#load();
  }

  disconnectedCallback(): void {
    removeEventListener('keydown', this.#onKey);
    this.removeEventListener('checkout-success', this.#onSuccess);
  }

  get #place(): string {
    return `crypto-checkout:counter:${this.#mode}`;
  }

  get #currency(): { readonly code: string; readonly decimals: number } {
    const code = loadItem(`${this.#place}:currency`) ?? 'USD';
    const all = this.#shop?.currencies ?? [];
    return all.find((one) => one.code === code) ?? all[0] ?? { code: 'USD', decimals: 2 };
  }

  #known(): Shop | undefined {
    try {
      return shopShape.parse(JSON.parse(loadItem(this.#place) ?? ''));
    } catch {
      return undefined;
    }
  }

  /** Reads who is signed in, and the shop. Without a connection, it stays as it was known. */
  async #load(): Promise<void> {
    try {
      const { data: session } = await this.#api(peopleApi.session.retrieve, {});
      const may = ['payments.create', 'counter.retrieve'].every((one) => allows(session, one));
      if (!may) return this.#show({ name: 'not-allowed' });
      const [{ data: counter }, { data: list }] = await Promise.all([
        this.#api(settingsApi.counter.retrieve, {}),
        this.#api(currencies.list, {}),
      ]);
      this.#shop = {
        name: session.merchant.name,
        publicKey: counter.publicKey,
        currencies: list
          .filter(({ type, isActive }) => type === 'fiat' && isActive)
          .map(({ code, decimals }) => ({ code, decimals })),
      };
      storeItem(this.#place, JSON.stringify(this.#shop));
      if (this.#state.name === 'loading') this.#show({ name: 'amount' });
      else this.#draw();
    } catch (error) {
      if (error instanceof CallFailure && error.code !== 'offline') this.#show({ name: 'signed-out' });
      else if (!this.#shop) this.#show({ name: 'amount', problem: texts.offline });
    }
  }

  #show(state: State): void {
    this.#state = state;
    // A reload shows the same payment.
    const hash = state.name === 'payment' ? `#payment=${state.id}` : '';
    if (location.hash !== hash) history.replaceState(null, '', location.pathname + location.search + hash);
    this.#draw();
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    const isElsewhere = event.target instanceof HTMLSelectElement || event.ctrlKey || event.metaKey;
    if (this.#state.name !== 'amount' || isElsewhere) return;
    const key = event.key === ',' ? '.' : event.key;
    if (keys.some((one) => one === key)) this.#press(key);
    // A button in focus is pressed by the browser.
    else if (key === 'Enter' && !(event.target instanceof HTMLButtonElement)) void this.#charge();
  };

  #press(key: string): void {
    const { decimals } = this.#currency;
    if (key === 'Backspace') this.#digits = this.#digits.slice(0, -1);
    else {
      const next = (this.#digits + key).replace(/^0+(?=\d)/, '').replace(/^\./, '0.');
      const [, after, ...more] = next.split('.');
      const isTooFine = (after?.length ?? 0) > decimals || (after !== undefined && decimals === 0);
      if (more.length === 0 && !isTooFine && next.length <= mostDigits) this.#digits = next;
    }
    this.#show({ name: 'amount' });
  }

  get #shown(): string {
    return `${this.#digits || '0'} ${this.#currency.code}`;
  }

  async #charge(): Promise<void> {
    if (!(Number(this.#digits) > 0)) return;
    // Browsers let a page sound only after a press.
    this.#sound ??= typeof AudioContext === 'undefined' ? undefined : new AudioContext();
    void this.#sound?.resume();
    this.#show({ name: 'asking' });
    try {
      const body = { amount: this.#digits, baseCurrency: this.#currency.code };
      const { data } = await this.#api(payments.create, { body });
      this.#show({ name: 'payment', id: data.payment.id });
    } catch (error) {
      const isOffline = error instanceof CallFailure && error.code === 'offline';
      const isSignedOut = error instanceof CallFailure && signedOutCodes.includes(error.code);
      if (isSignedOut) return this.#show({ name: 'signed-out' });
      const reason = error instanceof CallFailure ? ` ${error.message}` : '';
      this.#show({ name: 'amount', problem: isOffline ? texts.offline : texts.refused + reason });
    }
  }

  readonly #onSuccess = (): void => {
    if (this.#state.name !== 'payment') return;
    this.#show({ name: 'paid', id: this.#state.id });
    this.#ring();
    this.querySelector<HTMLElement>('.main')?.focus();
  };

  /** Two rising tones. */
  #ring(): void {
    const sound = this.#sound;
    if (!sound) return;
    for (const [index, pitch] of [660, 990].entries()) {
      const start = sound.currentTime + index * 0.16;
      const tone = new OscillatorNode(sound, { frequency: pitch });
      const volume = new GainNode(sound, { gain: 0 });
      volume.gain.setValueAtTime(0.4, start);
      volume.gain.exponentialRampToValueAtTime(0.001, start + 0.3);
      tone.connect(volume).connect(sound.destination);
      tone.start(start);
      tone.stop(start + 0.3);
    }
    this.dataset['rung'] = 'true';
  }

  #next(): void {
    this.#digits = '';
    delete this.dataset['rung'];
    this.#show({ name: 'amount' });
  }

  #draw(): void {
    render(this.#view(), this);
  }

  #view(): TemplateResult {
    return html`<header class="top">
        <h1>${this.#shop?.name ?? texts.title}</h1>
        ${this.#mode === 'test' ? html`<p class="test">${texts.test}</p>` : nothing}
        ${this.#state.name === 'amount' && this.#shop ? this.#currencyField(this.#shop) : nothing}
      </header>
      <main class="counter">${this.#content()}</main>`;
  }

  #currencyField(shop: Shop): TemplateResult {
    const { code } = this.#currency;
    const change = (event: Event) => {
      if (!(event.target instanceof HTMLSelectElement)) return;
      storeItem(`${this.#place}:currency`, event.target.value);
      this.#digits = '';
      this.#draw();
    };
    return html`<select aria-label=${texts.currency} @change=${change}>
      ${shop.currencies.map(
        (one) => html`<option .value=${one.code} ?selected=${one.code === code}>${one.code}</option>`,
      )}
    </select>`;
  }

  #content(): TemplateResult {
    const state = this.#state;
    switch (state.name) {
      case 'loading':
        return html`<p aria-busy="true">${texts.loading}</p>`;
      case 'signed-out':
        return html`<p role="alert">${texts.signIn}</p>
          <a class="link" href="${this.#path}/console">${texts.openConsole}</a>`;
      case 'not-allowed':
        return html`<p role="alert">${texts.notAllowed}</p>`;
      case 'amount':
        return this.#amountView(state.problem);
      case 'asking':
        return html`<p class="sum">${this.#shown}</p>
          <p role="status">${texts.asking}</p>`;
      case 'payment':
        return this.#paymentView(state.id);
      case 'paid':
        return html`<svg class="tick" viewBox="0 0 100 100" aria-hidden="true">
            <circle cx="50" cy="50" r="48"></circle>
            <path d="M28 52 l16 16 l30 -34"></path>
          </svg>
          <p class="paid" role="status">${texts.paid}</p>
          ${this.#digits === '' ? nothing : html`<p class="sum">${this.#shown}</p>`}
          <button class="main" @click=${() => this.#next()}>${texts.next}</button>`;
      default:
        return state satisfies never;
    }
  }

  #amountView(problem: string | undefined): TemplateResult {
    const hasKey = this.#shop?.publicKey != null;
    const label = (key: string) =>
      key === 'Backspace' ? html`<span aria-hidden="true">⌫</span>` : html`${key}`;
    return html`<p class="sum" role="status" aria-label=${`${texts.amount}: ${this.#shown}`}>
        ${this.#shown}
      </p>
      ${problem === undefined ? nothing : html`<p class="problem" role="alert">${problem}</p>`}
      ${this.#shop && !hasKey ? html`<p class="problem" role="alert">${texts.noKey}</p>` : nothing}
      <div class="pad" role="group" aria-label=${texts.pad}>
        ${keys.map(
          (key) =>
            html`<button
              aria-label=${key === 'Backspace' ? texts.erase : nothing}
              @click=${() => this.#press(key)}
            >
              ${label(key)}
            </button>`,
        )}
      </div>
      <button
        class="main"
        ?disabled=${!(Number(this.#digits) > 0) || !hasKey}
        @click=${() => void this.#charge()}
      >
        ${this.#digits === '' ? texts.charge : texts.chargeAmount(this.#shown)}
      </button>`;
  }

  #paymentView(id: string): TemplateResult {
    return html`<crypto-checkout
        payment-id=${id}
        public-key=${this.#shop?.publicKey ?? ''}
        api-url=${this.#path === '' ? nothing : this.#path}
      ></crypto-checkout>
      <button @click=${() => this.#next()}>${texts.stop}</button>`;
  }
}

customElements.define('shop-counter', ShopCounter);

interface Policies {
  createPolicy(name: string, rules: { createScriptURL(asked: string): string }): unknown;
}
const hasPolicies = (value: unknown): value is Policies =>
  typeof value === 'object' && value !== null && 'createPolicy' in value;

/** A page that asks for Trusted Types lets no other script become a worker. */
function allowWorker(url: string): void {
  const createScriptURL = (asked: string) => {
    if (asked !== url) throw new TypeError('Only the counter has a worker');
    return asked;
  };
  const policies: unknown = Reflect.get(globalThis, 'trustedTypes');
  if (hasPolicies(policies)) policies.createPolicy('default', { createScriptURL });
}

/** Keeps the page for times without a connection. */
function keepForOffline(): void {
  const page = location.pathname;
  const worker = `${page}-worker.js`;
  allowWorker(worker);
  registerWorker(worker, page);
}

keepForOffline();
