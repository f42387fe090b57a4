/** Picks the view for a state. */
import type { CheckoutState } from '../checkout/state.js';
import { choosingView } from './choosing.js';
import { endedView, successView } from './ended.js';
import { idleView } from './idle.js';
import { payingView } from './paying.js';
import { quotedView } from './quoted.js';
import type { View, ViewContext } from './view.js';

export function viewOfState(state: CheckoutState, context: ViewContext): View {
  switch (state.name) {
    case 'idle':
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
    case 'confirming':
      return payingView(state, context);
    case 'success':
      return successView(state, context);
    case 'error':
      return state.payment === undefined ? idleView(state, context) : endedView(state, context);
    case 'expired':
    case 'cancelled':
      return endedView(state, context);
    default:
      return state satisfies never;
  }
}
