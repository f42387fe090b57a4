/** The endings, each with what became of the money and a way on. */
import { html, nothing } from 'lit';
import type { Payment } from '../contract/checkout.js';
import type { FollowedState } from '../state.js';
import { logText, timeLog } from './time-log.js';
import type { View, ViewContext } from './view.js';

export function successView({ payment }: FollowedState, context: ViewContext): View {
  const { text, redirectUrl, redirectSeconds, stay, leave, copy } = context;
  return {
    heading: text('successHeading'),
    sentence: outcome(payment, context),
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
        : { label: text('backToShop'), run: leave },
    badge: 'success',
  };
}

export function endedView({ name, payment }: FollowedState, context: ViewContext): View {
  const { text, start } = context;
  return {
    heading: text(
      name === 'expired' ? 'expiredHeading' : name === 'cancelled' ? 'cancelledHeading' : 'errorHeading',
    ),
    sentence: outcome(payment, context),
    content: html`<slot name="error"></slot>${timeLog(payment, context)}`,
    action: { label: text('newPayment'), run: start },
    badge: 'failure',
  };
}

/** What became of the money, in one sentence. */
function outcome(payment: Payment, { text, money }: ViewContext): string {
  const { status, state, currency = '', amount: due = 0 } = payment;
  const received = payment.amountSeen ?? payment.amountReceived ?? 0;
  const seen = money(received, currency);
  const amount = money(due, currency);
  // Before the lock no address was shown that anything could have been sent to.
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
      // A server without the finer states: only what the base fields make certain is said.
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
