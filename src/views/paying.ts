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
import { assetIcon } from '../offer.js';
import { isolate } from './isolate.js';
import { networkName } from './quoted.js';
import type { View, ViewContext } from './view.js';

export function payingView(state: TrackedState, context: ViewContext): View {
  const { text, money, clock, afterQr, isWide } = context;
  const { payment, name } = state;
  const { currency = '', amount = 0, amountReceived = 0, baseAmount, baseCurrency, expiresBy = 0 } = payment;
  const isPartial = name === 'partially-paid';
  const due = amountDue(payment);
  const worth = money(Number(worthOf(due, amount, baseAmount).toFixed(2)), baseCurrency);
  const progress = text('partialSeen', {
    seen: money(payment.amountSeen ?? amountReceived, currency),
    confirmed: money(amountReceived, currency),
  });
  const values = {
    amount: money(amount, currency),
    due: money(due, currency),
    worth,
    network: networkName(payment),
    time: clock(expiresBy),
  };
  const qr = qrPanel(payment, due, context);
  const facts = afterQr?.priceFacts(payment, context);
  return {
    heading: text(isPartial ? 'partialHeading' : 'awaitingHeading'),
    sentence: isPartial ? `${progress} ${text('partialRest', values)}` : text('awaitingStatus', values),
    isOnlySpoken: true,
    time: countdown(context),
    content: html`
      ${afterQr?.wrongAssets(state, context)}
      ${
        isPartial && amount > 0
          ? html`<progress
                part="progress"
                .value=${payment.amountSeen ?? amountReceived}
                .max=${amount}
                aria-label=${text('partialHeading')}
              ></progress>
              <p class="quiet" aria-hidden="true">${progress}</p>`
          : nothing
      }
      ${target(payment, due, isPartial ? worth : '', context)}
    `,
    side: isWide ? html`${qr} ${facts}` : nothing,
    action: mainAction(payment, due, context),
    more: html`${context.walletPanel?.(state, context) ?? nothing} ${isWide ? nothing : qr}
    ${checkLine(context)} ${isWide ? nothing : facts} ${afterQr?.help(state, context)}`,
    canCancel: !isPartial,
    canRestart: !isPartial,
  };
}

/** The text copied for the address and the amount, and the link that opens a wallet, if wallets agree on one. */
function requestOf(payment: Payment, amount: number) {
  const { currency = '', currencyNetwork: network = '', addressInformation } = payment;
  return { currency, network, address: addressInformation?.address ?? '', amount };
}

/**
 * A phone has the wallet on it. On other devices nobody knows whether one would answer, so the link stays next to the
 * QR code.
 */
function mainAction(payment: Payment, due: number, context: ViewContext): View['action'] {
  const { text, isTouch, openWallet } = context;
  const { text: uri, holdsAmount } = paymentUri(requestOf(payment, due));
  return holdsAmount && isTouch
    ? { label: text('openInWallet'), run: () => openWallet(uri) }
    : { label: text('copyAddress'), run: copyAddress(payment, context) };
}

function copyAddress(payment: Payment, { text, copy }: ViewContext): () => void {
  const { currency = '', addressInformation } = payment;
  const notice = text('addressCopied', { currency, network: networkName(payment) });
  return () => copy('address', addressInformation?.address ?? '', notice);
}

/** Coin and network, and the amount and the address as two rows that a press copies. */
function target(payment: Payment, due: number, worth: string, context: ViewContext): TemplateResult {
  const { text, money, copy } = context;
  const { currency = '', currencyNetwork = '' } = payment;
  const address = payment.addressInformation?.address ?? '';
  const amount = money(due, currency);
  const values = { amount: plainAmount(due), currency, network: networkName(payment) };
  const copyAmount = () => copy('amount', values.amount, text('amountCopied', values));
  return html`<p part="asset" class="chip">
      ${assetIcon(currency, currencyNetwork)}
      <span part="warning">${text('addressWarning', values)}</span>
    </p>
    <div class="target">
      ${copyRow('amount', worth && `≈\u00a0${worth}`, amount.replace('\u00a0', ' '), copyAmount, context)}
      ${copyRow(
        'address',
        '',
        groupAddress(address).map(
          ({ text, isEnd }) => html`<span class=${isEnd ? '' : 'dim'}>${text}</span>`,
        ),
        copyAddress(payment, context),
        context,
      )}
    </div>
    ${context.afterQr?.exchangeHelp(payment, context) ?? html`<div class="place"></div>`}`;
}

function copyRow(
  what: 'amount' | 'address',
  note: string,
  content: string | TemplateResult[],
  run: () => void,
  { text, copied }: ViewContext,
): TemplateResult {
  const isDone = copied === what;
  return html`<button part="copy-${what}" class="row" type="button" @click=${run}>
    <span class="quiet"
      ><span class="unseen">${text(what === 'amount' ? 'copyAmount' : 'copyAddress')}</span
      ><span aria-hidden="true">${text(isDone ? 'copiedShort' : what)}</span> ${isolate(note)}</span
    >
    <span part=${what} class=${what} dir="ltr" translate="no">${content}</span> ${copyIcon(isDone)}
  </button>`;
}

function qrPanel(payment: Payment, amount: number, context: ViewContext): TemplateResult {
  const { text, money, drawQr, afterQr, isTouch, isWide, openWallet } = context;
  const request = requestOf(payment, amount);
  const { text: uri, holdsAmount } = paymentUri(request);
  const values = { ...request, amount: money(amount, request.currency) };
  const label = text(holdsAmount ? 'qrPayment' : 'qrAddress', values);
  const openLink = (event: Event) => {
    event.preventDefault();
    openWallet(uri);
  };
  const figure = html`<figure>
    ${
      drawQr === 'failed'
        ? html`<p class="qr">${text('qrFailed')}</p>`
        : (drawQr?.(request, label) ?? html`<div class="qr loading"></div>`)
    }
    <figcaption>${text(holdsAmount ? 'qrHoldsAmount' : 'qrHoldsAddress', values)}</figcaption>
    ${holdsAmount && !isTouch ? html`<a part="wallet" class="quiet-button" href=${uri} @click=${openLink}>${text('openInWallet')}</a>` : nothing}
  </figure>`;
  return html`${isWide ? figure : disclosure('qr', 'qr-panel', text('qr'), figure, context)}
  ${afterQr?.phonePanel(payment, context)}`;
}

function copyIcon(isDone: boolean): TemplateResult {
  return html`<svg class="mark" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
    <path d=${isDone ? 'm5 13 4 4L19 7' : 'M9 9V5h10v10h-4M5 9h10v10H5z'} />
  </svg>`;
}
