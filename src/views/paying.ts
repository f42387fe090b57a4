/** The view after the lock: how much to send, where to, and for how long. */
import { html, nothing, type TemplateResult } from 'lit';
import type { TrackedState } from '../checkout/state.js';
import type { Payment } from '../contract/checkout.js';
import { groupAddress } from '../money/address.js';
import { amountDue, plainAmount, worthOf } from '../money/amount-due.js';
import { paymentUri } from '../money/payment-uri.js';
import { checkLine } from './check-line.js';
import { countdown } from './countdown.js';
import { disclosure } from './disclosure.js';
import { coinIcon, networkIcon } from './icons.js';
import { isolate } from './isolate.js';
import { networkName } from './quoted.js';
import type { View, ViewContext } from './view.js';

export function payingView(state: TrackedState, context: ViewContext): View {
  const { text, money, clock, check, afterQr } = context;
  const { payment, name } = state;
  const { currency = '', amount = 0, amountReceived = 0, baseAmount, baseCurrency, expiresBy = 0 } = payment;
  const isPartial = name === 'partially-paid';
  const network = networkName(payment);
  const due = amountDue(payment);
  const values = {
    amount: money(amount, currency),
    seen: money(payment.amountSeen ?? amountReceived, currency),
    confirmed: money(amountReceived, currency),
    due: money(due, currency),
    worth: money(Number(worthOf(due, amount, baseAmount).toFixed(2)), baseCurrency),
    network,
    time: clock(expiresBy),
  };
  return {
    heading: text(isPartial ? 'partialHeading' : 'awaitingHeading'),
    sentence: text(isPartial ? 'partialStatus' : 'awaitingStatus', values),
    content: html`
      ${afterQr?.wrongAssets(state, context)}
      ${
        isPartial && amount > 0
          ? html`<progress
              part="progress"
              .value=${payment.amountSeen ?? amountReceived}
              .max=${amount}
              aria-label=${text('partialHeading')}
            ></progress>`
          : nothing
      }
      ${target(payment, due, context)} ${context.walletPanel?.(state, context) ?? nothing}
      ${qrPanel(payment, due, context)} ${countdown(context)} ${priceFacts(payment, context)}
      ${checkLine(context)}
    `,
    action: { label: text('checkNow'), run: check },
    more: html`${afterQr?.exchangeHelp(state, context)} ${afterQr?.timeLog(state, context)}`,
    canCancel: !isPartial,
    canRestart: !isPartial,
  };
}

/** Coin and network, the amount, the address, and a button to copy each. */
function target(payment: Payment, due: number, context: ViewContext): TemplateResult {
  const { text, money, copy, copied } = context;
  const { currency = '', currencyNetwork = '' } = payment;
  const address = payment.addressInformation?.address ?? '';
  const network = networkName(payment);
  const amount = money(due, currency);
  const values = { amount, currency, network };
  const copyButton = (what: 'amount' | 'address', content: string, notice: string) =>
    html`<button part="copy-${what}" class="second" type="button" @click=${() => copy(what, content, notice)}>
      ${copyIcon(copied === what)} ${text(what === 'amount' ? 'copyAmount' : 'copyAddress')}
    </button>`;
  return html`<div class="target">
    <p part="asset" class="chip">
      ${coinIcon(currency)} ${networkIcon(currencyNetwork)}
      <b>${text('coinOnNetwork', values)}</b>
    </p>
    <p part="amount" class="amount" dir="ltr">${amount.replace('\u00a0', ' ')}</p>
    <div class="pair">
      ${copyButton('amount', plainAmount(due), text('amountCopied', { ...values, amount: plainAmount(due) }))}
      ${copyButton('address', address, text('addressCopied', values))}
    </div>
    <p class="address-box">
      <span class="quiet">${text('address', values)}</span>
      <span part="address" class="address" dir="ltr"
        >${groupAddress(address).map(({ text, isEnd }) => html`<span class=${isEnd ? '' : 'dim'}>${text}</span>`)}</span
      >
    </p>
    <p part="warning" class="warning">${text('addressWarning', values)}</p>
  </div>`;
}

function qrPanel(payment: Payment, amount: number, context: ViewContext): TemplateResult {
  const { text, money, drawQr, isTest } = context;
  const { currency = '', currencyNetwork = '' } = payment;
  const address = payment.addressInformation?.address ?? '';
  const request = { currency, network: currencyNetwork, address, amount };
  const { text: uri, holdsAmount } = paymentUri(request);
  const label = holdsAmount
    ? text('qrPayment', { amount: money(amount, currency), address })
    : text('qrAddress', { address });
  return html`
    ${holdsAmount ? html`<a part="wallet" class="second" href=${uri}>${text('openInWallet')}</a>` : nothing}
    ${disclosure(
      'qr',
      'qr-panel',
      text('qr'),
      html`<figure>
        ${
          drawQr === 'failed'
            ? html`<p class="qr">${text('qrFailed')}</p>`
            : (drawQr?.(request, label) ?? html`<div class="qr loading"></div>`)
        }
        <figcaption>
          ${text(holdsAmount ? 'qrHoldsAmount' : 'qrHoldsAddress')}
          ${isTest ? html`<b class="test-note">${text('testMode')}</b>` : nothing}
        </figcaption>
      </figure>`,
      context,
    )}
  `;
}

/** The rate, until when it is fixed, the price and the fee. */
function priceFacts(payment: Payment, { text, money, clock }: ViewContext): TemplateResult {
  const { currency = '', amount = 0, baseAmount, baseCurrency, expiresBy = 0 } = payment;
  const price = money(worthOf(1, amount, baseAmount), baseCurrency);
  const rows = [
    ['base-amount', text('price'), money(baseAmount, baseCurrency)],
    ['rate', text('rate', { time: clock(expiresBy) }), text('rateValue', { currency, price })],
    ['fee', text('fee'), text('feeValue')],
  ] as const;
  return html`<dl class="facts">
    ${rows.map(
      ([part, term, value]) =>
        html`<div>
          <dt>${term}</dt>
          <dd part=${part}>${isolate(value)}</dd>
        </div>`,
    )}
  </dl>`;
}

function copyIcon(isDone: boolean): TemplateResult {
  return html`<svg class="mark" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
    <path d=${isDone ? 'm5 13 4 4L19 7' : 'M9 9V5h10v10h-4M5 9h10v10H5z'} />
  </svg>`;
}
