/** The final states: what happened to the money, and what the payer can do next. */
import { html, nothing, type TemplateResult } from 'lit';
import type { TrackedState } from '../checkout/state.js';
import type { Payment } from '../contract/checkout.js';
import { hasFunds } from '../money/amount-due.js';
import { badge } from './badge.js';
import { receipt, saveReceipt, transactionList } from './receipt.js';
import { timeLog } from './time-log.js';
import { questionPanel } from './question.js';
import type { View, ViewContext } from './view.js';
import { wrongAssets } from './wrong-assets.js';

export function endedView(state: TrackedState, context: ViewContext): View {
  return state.name === 'success' ? successView(state, context) : failedView(state, context);
}

function successView(state: TrackedState, context: ViewContext): View {
  const { text, redirectUrl, redirectSeconds, stay, leave } = context;
  const { payment } = state;
  const wrong = wrongAssets(state, context);
  const host = redirectUrl === undefined ? '' : new URL(redirectUrl).host;
  return {
    heading: text('successHeading'),
    sentence: outcomeSentence(payment, context),
    content: html`<slot name="success"></slot> ${wrong}
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
    action:
      redirectUrl === undefined
        ? { label: text('save'), run: () => saveReceipt(payment, context) }
        : { label: text('backToShop', { host }), run: leave },
    // The way back to the shop comes before the receipt, to be on a phone's first screen.
    more: html`${redirectUrl === undefined ? nothing : receipt(payment, context)}
    ${payment.state === 'settled_over' || wrong.length > 0 ? contactLink(payment, context) : nothing}
    ${newPayment(context)} ${timeLog(state, context)}`,
    badge: badge('success'),
  };
}

function failedView(state: TrackedState, context: ViewContext): View {
  const { text, start, copy, canStartAgain, question, ask } = context;
  // The shop holds money, and would get the full price once more.
  const askFirst = () => ask('again');
  const { name, payment } = state;
  const support = supportLink(payment);
  const isHeld = hasFunds(payment);
  // In these, the sentence names them.
  const isSaid = payment.state === 'invalid' || payment.state === 'cancelled_paid';
  const isReversed = payment.state === 'reversed';
  const mayArrive = isReversed && isPending(payment);
  const copyId = { label: text('copyId'), run: () => copy('id', payment.id, text('copied')) };
  const again = canStartAgain ? { label: text('newPayment'), run: start } : undefined;
  const contact =
    support === undefined ? undefined : { label: text('contactShop'), run: () => open(support) };
  return {
    heading: text(headingKey(state)),
    sentence: outcomeSentence(payment, context),
    content: html`<slot name="error"></slot>
      ${isSaid ? nothing : wrongAssets(state, context)} ${transactionList(payment, context)}
      <dl class="facts">
        <div>
          <dt>${text('paymentId')}</dt>
          <dd part="payment-id"><bdi dir="ltr">${payment.id}</bdi></dd>
        </div>
      </dl>`,
    // Where the shop holds the money, the way to it comes first.
    action: isHeld || mayArrive ? (contact ?? copyId) : again,
    more: html`<div class="pair plain">
        ${
          isHeld && !contact
            ? nothing
            : html`<button part="copy-id" class="second" type="button" @click=${copyId.run}>
                ${text('copyId')}
              </button>`
        }
        ${isReversed && !isHeld && !mayArrive ? contactLink(payment, context) : nothing}
        ${isHeld && !mayArrive && question === undefined ? newPayment({ ...context, start: askFirst }) : nothing}
      </div>
      ${question ? questionPanel(question, context) : nothing} ${timeLog(state, context)}`,
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

function contactLink(payment: Payment, { text }: ViewContext): TemplateResult | typeof nothing {
  const url = supportLink(payment);
  return url
    ? html`<a part="support" class="second" href=${url} target="_blank" rel="noopener"
        >${text('contactShop')}</a
      >`
    : nothing;
}

/** Where the shop helps its payers, https or mailto; an email names the payment. */
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
  if (name === 'expired') return 'expiredHeading';
  if (name === 'cancelled') return 'cancelledHeading';
  return payment.state === 'reversed' ? 'reversedHeading' : 'errorHeading';
}

/** What happened to the money, in one sentence. */
function outcomeSentence(payment: Payment, { text, money }: ViewContext): string {
  const { status, state, currency = '', amount: due = 0, receipts = [] } = payment;
  const received = payment.amountSeen ?? payment.amountReceived ?? 0;
  const seen = money(received, currency);
  const amount = money(due, currency);
  const wrong = receipts.filter(({ counts, status: one }) => !counts && one !== 'lost');
  const came = wrong.map((one) => money(one.amount, one.currency)).join(', ');
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
      return text('cancelledPaid', { seen: [received > 0 ? seen : '', came].filter(Boolean).join(', ') });
    case 'expired':
      // Only a server that lists what arrived can say that nothing did.
      return text(payment.receipts?.length === 0 && !hasFunds(payment) ? 'expiredStatus' : 'expiredUnknown');
    default:
      // A server without detailed states: say only what the base fields tell for certain.
      if (status === 'success')
        return received > due
          ? text('successOver', { seen, amount })
          : text('successStatus', { amount: seen });
      return text(status === 'cancelled' ? 'cancelledStatus' : 'errorStatus');
  }
}
