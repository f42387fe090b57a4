/** The final states: what happened to the money, and what the payer can do next. */
import { html, nothing } from 'lit';
import type { TrackedState } from '../checkout/state.js';
import type { Payment } from '../contract/checkout.js';
import { logText, timeLog } from './time-log.js';
import type { View, ViewContext } from './view.js';

export function successView({ payment }: TrackedState, context: ViewContext): View {
  const { text, redirectUrl, redirectSeconds, stay, leave, copy } = context;
  return {
    heading: text('successHeading'),
    sentence: outcomeSentence(payment, context),
    content: html`<slot name="success"></slot> ${
        redirectSeconds === undefined
          ? nothing
          : html`<p part="redirect" class="time">
              ${text('redirecting', { seconds: redirectSeconds })}
              <button class="quiet-button" type="button" @click=${stay}>${text('stay')}</button>
            </p>`
      }
      ${timeLog(payment, context)}`,
    action:
      redirectUrl === undefined
        ? {
            label: text('copyReceipt'),
            run: () => copy('receipt', receiptText(payment, context), text('copied')),
          }
        : { label: text('backToShop', { host: new URL(redirectUrl).host }), run: leave },
    badge: 'success',
  };
}

export function endedView({ name, payment }: TrackedState, context: ViewContext): View {
  const { text, start } = context;
  return {
    heading: text(
      name === 'expired' ? 'expiredHeading' : name === 'cancelled' ? 'cancelledHeading' : 'errorHeading',
    ),
    sentence: outcomeSentence(payment, context),
    content: html`<slot name="error"></slot>${timeLog(payment, context)}`,
    action: { label: text('newPayment'), run: start },
    badge: 'failure',
  };
}

/** What happened to the money, in one sentence. */
function outcomeSentence(payment: Payment, { text, money }: ViewContext): string {
  const { status, state, currency = '', amount: due = 0 } = payment;
  const received = payment.amountSeen ?? payment.amountReceived ?? 0;
  const seen = money(received, currency);
  const amount = money(due, currency);
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
      return text('invalidStatus');
    case 'reversed':
      return text('reversedStatus');
    case 'cancelled_paid':
      return text('cancelledPaid', { seen });
    case 'expired':
      return text('expiredStatus');
    default:
      // A server without detailed states: say only what the base fields tell for certain.
      if (status === 'success')
        return received > due
          ? text('successOver', { seen, amount })
          : text('successStatus', { amount: seen });
      return text(status === 'cancelled' ? 'cancelledStatus' : 'errorStatus');
  }
}

function receiptText(payment: Payment, { text, money }: ViewContext): string {
  const {
    id,
    txRef,
    baseAmount,
    baseCurrency,
    amountReceived = 0,
    currency = '',
    transactionTimeLog,
  } = payment;
  return [
    text('receipt', { id }),
    ...(txRef ? [text('order', { reference: txRef })] : []),
    `${money(baseAmount, baseCurrency)} = ${money(amountReceived, currency)}`,
    logText(transactionTimeLog),
  ].join('\n');
}
