/** Code that a payer needs only after the QR code, or on another visit. The element loads it automatically. */
import { html } from 'lit';
import { previousChoice, type CheckoutState, type TrackedState } from './checkout/state.js';
import { resultOfCheck } from './checkout/check.js';
import { PageTitle } from './checkout/page-title.js';
import { Copying, type CopyHost } from './copying.js';
import { ForeignDom } from './foreign-dom.js';
import type { CheckoutError } from './errors.js';
import { problemOf } from './messages/problems.js';
import { openWallet } from './open-wallet.js';
import {
  TransferCheck,
  type TransferCheckHost,
  type TransferCheckTexts,
} from './transfer-check/transfer-check.js';
import { addStyles } from './views/add-styles.js';
import { afterQrStyles } from './views/after-qr.styles.js';
import { confirmingView } from './views/confirming.js';
import { endedView } from './views/ended.js';
import { exchangeHelp } from './views/exchange.js';
import { phonePanel } from './views/phone.js';
import { priceFacts } from './views/price-facts.js';
import { questionPanel } from './views/question.js';
import { timeLog } from './views/time-log.js';
import { timeUpView } from './views/time-up.js';
import type { AfterQrViews, ViewContext } from './views/view.js';
import { wrongAssets } from './views/wrong-assets.js';

const views = {
  confirmingView,
  endedView,
  exchangeHelp,
  phonePanel,
  priceFacts,
  questionPanel,
  timeUpView,
  wrongAssets,
};

interface AfterQrHost extends TransferCheckHost, CopyHost {
  readonly renderRoot: HTMLElement | DocumentFragment;
}

interface AfterQrTexts extends TransferCheckTexts {
  readonly text: ViewContext['text'];
}

export function createAfterQr(host: AfterQrHost, texts: AfterQrTexts) {
  new ForeignDom(host, () => host.status + JSON.stringify(host.payment));
  const { render } = new TransferCheck(host, texts);
  new PageTitle(host, () => texts.text('paidTitle'));
  const copying = new Copying(host);
  addStyles(host.shadowRoot, afterQrStyles);
  return {
    ...(views satisfies Omit<AfterQrViews, 'help' | 'copyField'>),
    help: (state: TrackedState, context: ViewContext) =>
      html`${render(state.payment, context)} ${timeLog(state, context)}`,
    copying,
    openWallet(link: string, value: string, notify: (text: string) => void) {
      const say = () => notify(texts.text('copied'));
      const label = () => texts.text('walletNone');
      openWallet(link, () => void copying.offer({ what: 'address', value, label, say }));
    },
    copyField: copying.render,
    problemOf(problem: CheckoutError, state: CheckoutState, first: Parameters<typeof problemOf>[2]) {
      const hasPayment = state.payment !== undefined;
      return problemOf(problem, { hasPayment, hasOthers: previousChoice(state) !== undefined }, first);
    },
    resultOfCheck,
  };
}
