/** Takes a transaction's hash, asks the server about its relation to the payment, and shows the answer. */
import { html, type ReactiveControllerHost, type TemplateResult } from 'lit';
import type { Order } from '../checkout/order.js';
import { checkTransfer } from '../client/check-transfer.js';
import type { Payment } from '../contract/checkout.js';
import { secretIn } from '../contract/secret-text.js';
import type { TransferCheck } from '../contract/transfer-check.js';
import { ApiError, NetworkError } from '../errors.js';
import type { MessageKey } from '../messages/en.js';
import type { PageLanguage } from '../messages/load.js';
import { loadTransferTexts } from '../messages/load-transfer.js';
import type { ViewContext } from '../views/view.js';
import { transactionHashIn } from './transaction-hash.js';

type Result =
  | { readonly name: 'none' | 'asking' | 'no-hash' | 'secret' }
  | { readonly name: 'answered'; readonly check: TransferCheck }
  | { readonly name: 'failed'; readonly error: unknown };

const answers = {
  paid_this: 'transferPaid',
  other_coin: 'transferOtherCoin',
  other_address: 'transferOtherAddress',
  failed: 'transferFailed',
  unknown: 'transferUnknown',
} as const satisfies Record<TransferCheck['answer'], MessageKey>;

export class TransferPanel {
  readonly #host: ReactiveControllerHost & { readonly order: Order };
  #pasted = '';
  #field: HTMLInputElement | undefined;
  #result: Result = { name: 'none' };
  #paymentId = '';
  #asking: AbortController | undefined;

  constructor(host: ReactiveControllerHost & { readonly order: Order }) {
    this.#host = host;
  }

  /** Loads the texts in the page's language. */
  loadTexts(language: PageLanguage): Promise<void> {
    return language.add(loadTransferTexts);
  }

  /** Cancels a pending question. */
  stop(): void {
    this.#asking?.abort();
    if (this.#result.name === 'asking') this.#result = { name: 'none' };
  }

  render(payment: Payment, context: ViewContext): TemplateResult {
    const { text } = context;
    if (this.#paymentId !== payment.id) this.#forget(payment.id);
    const ask = () => void this.#ask(payment.id);
    const isAsking = this.#result.name === 'asking';
    return html`<div class="transfer">
      <label for="transfer" class="quiet">${text('transferField')}</label>
      <input
        id="transfer"
        part="transfer-hash"
        class="search"
        type="text"
        dir="ltr"
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
        aria-describedby="transfer-answer"
        .value=${this.#pasted}
        @input=${({ currentTarget }: Event) => {
          if (!(currentTarget instanceof HTMLInputElement)) return;
          this.#field = currentTarget;
          this.#pasted = currentTarget.value;
        }}
        @keydown=${(event: KeyboardEvent) => {
          if (event.key !== 'Enter') return;
          // In the surrounding form, Enter triggers the main action.
          event.preventDefault();
          ask();
        }}
      />
      <button part="check-transfer" class="second" type="button" aria-disabled=${isAsking} @click=${ask}>
        ${text('transferAsk')}
      </button>
      <p id="transfer-answer" part="transfer-answer" aria-live="polite">${this.#answer(payment, context)}</p>
    </div>`;
  }

  #forget(paymentId: string): void {
    this.#asking?.abort();
    this.#paymentId = paymentId;
    this.#pasted = '';
    this.#result = { name: 'none' };
  }

  async #ask(paymentId: string): Promise<void> {
    if (this.#result.name === 'asking') return;
    // A keystore file contains text that looks like a hash.
    if (secretIn(this.#pasted, 'hash')) {
      this.#pasted = '';
      // Nothing was rendered since it was typed, so a render would leave it there.
      if (this.#field) this.#field.value = '';
      return this.#show({ name: 'secret' });
    }
    const hash = transactionHashIn(this.#pasted);
    if (hash === undefined) return this.#show({ name: 'no-hash' });
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    this.#show({ name: 'asking' });
    const { apiUrl, publicKey } = this.#host.order;
    try {
      const { data: check } = await checkTransfer({ apiUrl, publicKey }, paymentId, hash, { signal });
      if (!signal.aborted) this.#show({ name: 'answered', check });
    } catch (error) {
      if (!signal.aborted) this.#show({ name: 'failed', error });
    }
  }

  #show(result: Result): void {
    this.#result = result;
    this.#host.requestUpdate();
  }

  /** In one sentence; empty before the first question. */
  #answer(payment: Payment, { text, money }: ViewContext): string {
    const result = this.#result;
    switch (result.name) {
      case 'none':
        return '';
      case 'asking':
        return text('checking');
      case 'no-hash':
        return text('transferNoHash');
      case 'secret':
        return text('transferSecret');
      case 'failed':
        return failureText(result.error, text);
      case 'answered': {
        const { answer, network, currency = '', amount = 0, ...depth } = result.check;
        return text(answers[answer], {
          amount: money(amount, currency),
          network: nameOf(network, payment),
          currency: payment.currency ?? '',
          asked: nameOf(payment.currencyNetwork ?? '', payment),
          confirmations: depth.confirmations ?? 0,
          required: depth.requiredConfirmations ?? 0,
        });
      }
      default:
        return result satisfies never;
    }
  }
}

function failureText(error: unknown, text: ViewContext['text']): string {
  if (error instanceof NetworkError) return text('problemNetwork');
  const seconds =
    error instanceof ApiError && error.code === 'rate_limited' ? error.retryAfterSeconds : undefined;
  return seconds === undefined ? text('problemBusy') : text('transferWait', { seconds });
}

function nameOf(network: string, { currencyNetwork, networkName, currencyOptions = [] }: Payment): string {
  if (network === currencyNetwork) return networkName ?? network;
  return currencyOptions.find((option) => option.network === network)?.networkName ?? network;
}
