/** The view after the lock: amount, address and QR code, then the progress of the confirmations. */
import { html, nothing, type TemplateResult } from 'lit';
import type { TrackedState } from '../checkout/state.js';
import type { Payment } from '../contract/checkout.js';
import { groupAddress } from '../money/address.js';
import { amountDue } from '../money/amount-due.js';
import { plainAmount } from '../money/format.js';
import { paymentUri } from '../money/payment-uri.js';
import { countdown } from './countdown.js';
import { coinIcon, networkIcon } from './icons.js';
import { networkName } from './quoted.js';
import { timeLog } from './time-log.js';
import type { View, ViewContext } from './view.js';

export function payingView(state: TrackedState, context: ViewContext): View {
  const { text, money, refresh, remainingMs } = context;
  const { payment } = state;
  const { currency = '', amount = 0, confirmations = 0, confirmationsRequired = 1 } = payment;
  const received = payment.amountSeen ?? payment.amountReceived ?? 0;
  const seen = money(received, currency);
  if (state.name === 'confirming') {
    return {
      heading: text('confirmingHeading'),
      sentence: text('confirmingStatus', { seen, confirmations, required: confirmationsRequired }),
      content: html`${progress(confirmations, confirmationsRequired, text('confirmingHeading'))}
      ${timeLog(payment, context)}`,
      action: { label: text('checkNow'), run: refresh },
      badge: 'waiting',
    };
  }
  const due = amountDue(payment);
  const isPartial = state.name === 'partially-paid';
  const network = networkName(payment);
  return {
    heading: text(isPartial ? 'partialHeading' : 'awaitingHeading'),
    sentence: isPartial
      ? text('partialStatus', { seen, due: money(due, currency) })
      : text(remainingMs === 0 ? 'timeUp' : 'awaitingStatus', { currency, network }),
    content: html`
      ${amountButton(payment, due, context)}
      ${isPartial && amount > 0 ? progress(received, amount, text('partialHeading')) : nothing}
      ${context.walletPanel?.(state, context) ?? nothing} ${countdown(context)}
      ${paymentTarget(payment, due, context)} ${exchangeHelp(payment, due, context)}
      ${timeLog(payment, context)}
    `,
    action: { label: text('iHavePaid'), run: refresh },
    canCancel: !isPartial,
  };
}

function amountButton(
  payment: Payment,
  due: number,
  { text, money, copy, copied }: ViewContext,
): TemplateResult {
  const { currency = '', baseAmount, baseCurrency } = payment;
  return html`<button
      part="copy-amount"
      class="amount"
      type="button"
      @click=${() => copy('amount', plainAmount(due), text('copied'))}
    >
      <span class="unseen">${text('copyAmount')}</span>
      ${coinIcon(currency)}
      <span part="amount" dir="ltr">${money(due, currency).replace('\u00a0', ' ')}</span>
      ${copyIcon(copied === 'amount')}
    </button>
    <p part="base-amount" class="quiet base">${money(baseAmount, baseCurrency)}</p>`;
}

/** The QR code, the address and the wallet link. */
function paymentTarget(payment: Payment, amount: number, context: ViewContext): TemplateResult {
  const { text, money, copy, copied, drawQr } = context;
  const { currency = '', currencyNetwork = '' } = payment;
  const address = payment.addressInformation?.address ?? '';
  const network = networkName(payment);
  const { text: uri, holdsAmount } = paymentUri({ currency, network: currencyNetwork, address, amount });
  const label = holdsAmount
    ? text('qrPayment', { amount: money(amount, currency), address })
    : text('qrAddress', { address });
  const warning = text('addressWarning', { currency, network });
  return html`
    <figure part="qr-panel">
      ${
        drawQr === 'failed'
          ? html`<p class="qr">${text('qrFailed')}</p>`
          : (drawQr?.(uri, label) ?? html`<div class="qr loading"></div>`)
      }
      <figcaption>${text(holdsAmount ? 'qrHoldsAmount' : 'qrHoldsAddress')}</figcaption>
    </figure>
    <div class="target">
      <p class="icon-line">${networkIcon(currencyNetwork)} ${text('address', { currency, network })}</p>
      <div class="address-line">
        <span part="address" class="address" dir="ltr"
          >${groupAddress(address).map(({ text, isEnd }) => html`<span class=${isEnd ? '' : 'dim'}>${text}</span>`)}</span
        >
        <button
          part="copy-address"
          class="tool"
          type="button"
          aria-label=${text('copyAddress')}
          @click=${() => copy('address', address, `${text('copied')} ${warning}`)}
        >
          ${copyIcon(copied === 'address')}
        </button>
      </div>
      <p part="warning" class="warning">${warning}</p>
      ${holdsAmount ? html`<a part="wallet" class="second" href=${uri}>${text('openInWallet')}</a>` : nothing}
    </div>
  `;
}

/** Help for payers on an exchange, which takes its fee out of the amount: too little would arrive. */
function exchangeHelp(payment: Payment, due: number, { text, money }: ViewContext): TemplateResult {
  const { currency = '', currencyName = currency } = payment;
  const amount = money(due, currency);
  const rows = [
    [text('currency'), currencyName === currency ? currency : `${currencyName} (${currency})`],
    [text('network'), networkName(payment)],
    [text('exchangeAmount'), amount],
  ];
  return html`<details part="exchange">
    <summary>${text('exchange')}</summary>
    <p>${text('exchangeNote')}</p>
    <dl class="facts">
      ${rows.map(
        ([term, value]) =>
          html`<div>
            <dt>${term}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    <p>${text('exchangeFee', { amount })}</p>
  </details>`;
}

function progress(value: number, max: number, label: string): TemplateResult {
  return html`<progress part="progress" .value=${value} .max=${max} aria-label=${label}></progress>`;
}

function copyIcon(isDone: boolean): TemplateResult {
  return html`<svg class="mark" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
    <path d=${isDone ? 'm5 13 4 4L19 7' : 'M9 9V5h10v10h-4M5 9h10v10H5z'} />
  </svg>`;
}
