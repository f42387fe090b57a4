/** The final states: what happened to the money, and what the payer can do next. */
import { html, nothing, type TemplateResult } from 'lit';
import type { TrackedState } from '../checkout/state.js';
import type { Payment } from '../contract/checkout.js';
import { hasFunds } from '../money/amount-due.js';
import { badge } from './badge.js';
import { isolate } from './isolate.js';
import { excessOf, messageForShop, receipt, receivedOf, transactionList } from './receipt.js';
import { refundNote, refundSentence } from './refund-note.js';
import { timeLog } from './time-log.js';
import { questionPanel } from './question.js';
import type { View, ViewContext } from './view.js';
import { wrongAssets } from './wrong-assets.js';

export function endedView(state: TrackedState, context: ViewContext): View {
  return state.name === 'success' ? successView(state, context) : failedView(state, context);
}

function successView(state: TrackedState, context: ViewContext): View {
  const { text, money, redirectUrl, redirectSeconds, stay, leave } = context;
  const { payment } = state;
  const { currency = '' } = payment;
  const wrong = wrongAssets(state, context);
  const excess = excessOf(payment);
  const host = redirectUrl === undefined ? '' : new URL(redirectUrl).host;
  const refund = refundSentence(payment, context);
  return {
    heading: text('successHeading'),
    sentence: refund ?? outcomeSentence(payment, context),
    // The amount and the shop, or the refund's progress, are below.
    isOnlySpoken: refund !== undefined || payment.state === 'settled' || payment.state === undefined,
    content: html`<slot name="success"></slot> ${refundNote(payment, context)} ${wrong}
      ${
        excess > 0
          ? html`<dl class="facts">
              <div>
                <dt>${text('excess')}</dt>
                <dd part="excess" translate="no">${isolate(money(excess, currency))}</dd>
              </div>
            </dl>`
          : nothing
      }
      ${refund === undefined && (excess > 0 || wrong.length > 0) ? shopContact(payment, context) : nothing}
      ${
        redirectSeconds === undefined
          ? nothing
          : html`<p part="redirect" class="time">
              <span class="unseen" role="status">${text('redirectSoon', { host, seconds: 8 })}</span>
              <span aria-hidden="true">${text('redirecting', { seconds: redirectSeconds })}</span>
              <button class="quiet-button" type="button" @click=${stay}>${text('stay')}</button>
            </p>`
      }
      ${redirectUrl === undefined ? receipt(payment, context) : nothing}`,
    action: redirectUrl === undefined ? undefined : { label: text('backToShop', { host }), run: leave },
    // The way back to the shop comes before the receipt, to be on a phone's first screen.
    more: html`${redirectUrl === undefined ? nothing : receipt(payment, context)} ${newPayment(context)}
    ${timeLog(state, context)}`,
    badge: badge('success'),
  };
}

/** The way to ask the shop for the money that it owes: its own link, otherwise a message to copy. */
function shopContact(payment: Payment, context: ViewContext): TemplateResult {
  const { text, copy } = context;
  const url = supportLink(payment);
  if (url) return contactLink(url, context);
  const copyMessage = () => copy('message', messageForShop(payment, context), text('copied'));
  return html`<button part="copy-message" class="second" type="button" @click=${copyMessage}>
    ${text('copyMessage')}
  </button>`;
}

/** It came after the time, and the shop decides: nobody should pay again meanwhile. */
function lateView(state: TrackedState, context: ViewContext): View {
  const { text, money, afterQr } = context;
  const { payment } = state;
  const seen = money(receivedOf(payment), payment.currency ?? '');
  const url = supportLink(payment);
  return {
    heading: text('watching'),
    sentence: text('lateSeen', { seen }),
    content: html`${wrongAssets(state, context)} ${transactionList(payment, context)}`,
    more: html`${url ? contactLink(url, context) : nothing} ${afterQr?.help(state, context)}`,
    badge: badge('waiting'),
  };
}

function failedView(state: TrackedState, context: ViewContext): View {
  const { text, start, copy, canStartAgain, question, ask, afterQr } = context;
  const { name, payment } = state;
  if (name === 'expired' && isPending(payment)) return lateView(state, context);
  // The shop already holds money, and would get the full price again.
  const askFirst = () => ask('again');
  const support = supportLink(payment);
  const isHeld = hasFunds(payment);
  const refund = refundSentence(payment, context);
  // In these states, the sentence names them.
  const isStated = payment.state === 'invalid' || payment.state === 'cancelled_paid';
  const isReversed = payment.state === 'reversed';
  const mayArrive = isReversed && isPending(payment);
  const copyId = { label: text('copyId'), run: () => copy('id', payment.id, text('copied')) };
  const copyMessage = {
    label: text('copyMessage'),
    run: () => copy('message', messageForShop(payment, context), text('copied')),
  };
  const again = canStartAgain ? { label: text('newPayment'), run: start } : undefined;
  const contact =
    support === undefined ? undefined : { label: text('contactShop'), run: () => open(support) };
  return {
    heading: text(headingKey(state)),
    sentence: refund ?? outcomeSentence(payment, context),
    // It is shown below.
    isOnlySpoken: refund !== undefined,
    content: html`<slot name="error"></slot>
      ${refundNote(payment, context)} ${isStated ? nothing : wrongAssets(state, context)}
      ${transactionList(payment, context)}
      <dl class="facts">
        <div>
          <dt>${text('paymentId')}</dt>
          <dd part="payment-id" translate="no"><bdi dir="ltr">${payment.id}</bdi></dd>
        </div>
      </dl>`,
    // If the shop holds the money, the link to the shop comes first.
    action: isHeld || mayArrive ? (contact ?? copyMessage) : again,
    more: html`${
      question
        ? questionPanel(question, context, receivedText(payment, context))
        : html`<div class="pair plain">
            <button part="copy-id" class="second" type="button" @click=${copyId.run}>${copyId.label}</button>
            ${isReversed && !isHeld && !mayArrive && support ? contactLink(support, context) : nothing}
            ${isHeld && !mayArrive ? newPayment({ ...context, start: askFirst }) : nothing}
          </div>`
    }
    ${afterQr?.help(state, context)}`,
    badge: badge(name === 'cancelled' || payment.state === 'expired' ? 'calm' : 'failure'),
  };

  function open(url: string): void {
    if (url.startsWith('https:')) window.open(url, '_blank', 'noopener');
    else location.assign(url);
  }
}

function newPayment({ text, start, canStartAgain }: ViewContext): TemplateResult | typeof nothing {
  return canStartAgain
    ? html`<button id="again" part="new-payment" class="second" type="button" @click=${start}>
        ${text('newPayment')}
      </button>`
    : nothing;
}

function contactLink(url: string, { text }: ViewContext): TemplateResult {
  return html`<a part="support" class="second" href=${url} target="_blank" rel="noopener"
    >${text('contactShop')}</a
  >`;
}

/** The shop's support link, https or mailto; an email names the payment. */
function supportLink({ id, branding }: Payment): string | undefined {
  const url = branding?.supportUrl ?? '';
  if (url.startsWith('https:')) return url;
  if (!url.startsWith('mailto:')) return undefined;
  return `${url}${url.includes('?') ? '&' : '?'}subject=${encodeURIComponent(id)}`;
}

/** True if a transfer for the payment may still be confirmed. */
function isPending({ receipts = [] }: Payment): boolean {
  return receipts.some(({ counts, status }) => counts && status === 'seen');
}

function headingKey({ name, payment }: TrackedState) {
  if (name === 'expired') return 'timeUpHeading';
  if (name === 'cancelled') return 'cancelledHeading';
  return payment.state === 'reversed' ? 'reversedHeading' : 'errorHeading';
}

/** One sentence on what happened to the money. */
function outcomeSentence(payment: Payment, context: ViewContext): string {
  const { text, money } = context;
  const { status, state, currency = '', amount: due = 0 } = payment;
  const received = receivedOf(payment);
  const seen = money(received, currency);
  const amount = money(due, currency);
  const came = wrongText(payment, context);
  // Before the lock, the payer saw no address to send anything to.
  if (!payment.isCurrencyLocked && (state === 'expired' || status === 'cancelled'))
    return text('endedUnlocked');
  switch (state) {
    case 'settled_over':
      return text('successOver', { seen, amount });
    case 'settled_late':
      return text('successLate');
    case 'expired_partial':
      return text('expiredPartial', { seen, amount });
    case 'expired_late':
      return text('expiredLate', { seen });
    case 'invalid':
      return came ? text('invalidStatus', { amount: came, currency }) : text('errorStatus');
    case 'reversed':
      return text(isPending(payment) ? 'reversedPending' : 'reversedStatus');
    case 'cancelled_paid':
      return text('cancelledPaid', { seen: receivedText(payment, context) });
    case 'expired':
      // Only a server that lists receipts can say that nothing arrived.
      return text(payment.receipts?.length === 0 && !hasFunds(payment) ? 'expiredStatus' : 'cancelledStatus');
    default:
      // A server without detailed states: say only what the base fields prove.
      if (status === 'success')
        return received > due
          ? text('successOver', { seen, amount })
          : text('successStatus', { amount: seen });
      return text(status === 'cancelled' ? 'cancelledStatus' : 'errorStatus');
  }
}

/** All that arrived, in any coin: "30.00 USDT, 2 TRX". */
function receivedText(payment: Payment, context: ViewContext): string {
  const received = receivedOf(payment);
  const right = received > 0 ? context.money(received, payment.currency ?? '') : '';
  return [right, wrongText(payment, context)].filter(Boolean).join(', ');
}

function wrongText({ receipts = [] }: Payment, { money }: ViewContext): string {
  return receipts
    .filter(({ counts, status }) => !counts && status !== 'lost')
    .map((one) => money(one.amount, one.currency))
    .join(', ');
}
