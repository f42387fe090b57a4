/** Picks the view for a state. */
import { html } from 'lit';
import type { CheckoutState } from '../checkout/state.js';
import type { Payment } from '../contract/checkout.js';
import { choosingView } from './choosing.js';
import { idleView } from './idle.js';
import { minorActions } from './minor-actions.js';
import { payingView } from './paying.js';
import { quotedView } from './quoted.js';
import { isTimeUp, type View, type ViewContext } from './view.js';

export function viewOfState(state: CheckoutState, context: ViewContext): View {
  const view = viewOf(state, context);
  return {
    ...view,
    more: html`${context.afterQr?.copyField(context)} ${view.more} ${minorActions(view, context)}`,
  };
}

function viewOf(state: CheckoutState, context: ViewContext): View {
  const { afterQr } = context;
  switch (state.name) {
    case 'idle':
      return idleView(state, context, state.outdated && changedText(state.outdated, context));
    case 'creating':
      return idleView(state, context);
    case 'choosing-currency':
    case 'choosing-network':
      return choosingView(state, context);
    case 'quoted':
    case 'locking':
      return quotedView(state, context);
    case 'awaiting-funds':
    case 'partially-paid':
      if (!isTimeUp(context)) return payingView(state, context);
      return afterQr?.timeUpView(state, context) ?? loadingView(context);
    case 'confirming':
      return afterQr?.confirmingView(state, context) ?? loadingView(context);
    case 'error':
      if (state.payment === undefined) return idleView(state, context);
      return afterQr?.endedView(state, context) ?? loadingView(context);
    case 'success':
    case 'expired':
    case 'cancelled':
      return afterQr?.endedView(state, context) ?? loadingView(context);
    default:
      return state satisfies never;
  }
}

function changedText(
  { baseAmount, baseCurrency }: Payment,
  { text, money, total = '' }: ViewContext,
): string {
  return text('changedStatus', { old: money(baseAmount, baseCurrency), amount: total });
}

/** Shown until a view's code is loaded. If that failed, the main action tries again. */
function loadingView({ hasAfterQrFailed, text, check }: ViewContext): View {
  return {
    heading: text('loading'),
    sentence: hasAfterQrFailed ? text('problemNetwork') : '',
    action: hasAfterQrFailed ? { label: text('tryAgain'), run: check } : undefined,
    isBusy: !hasAfterQrFailed,
  };
}
