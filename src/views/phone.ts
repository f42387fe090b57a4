/** A second QR code for payers at a computer: it opens this payment on their phone, where the wallet is. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Payment } from '../contract/checkout.js';
import { disclosure } from './disclosure.js';
import type { ViewContext } from './view.js';

/** Nothing on a touch screen, which is the phone, and nothing if the server does not send the payment's page. */
export function phonePanel({ pageUrl }: Payment, context: ViewContext): TemplateResult | typeof nothing {
  const { text, drawQr, isTouch } = context;
  if (isTouch || pageUrl === undefined || typeof drawQr !== 'function') return nothing;
  const content = html`<figure>
    ${drawQr(pageUrl, `${text('qr')}: ${text('phone')}`, 'phone-qr')}
    <figcaption>${text('phoneHelp')}</figcaption>
  </figure>`;
  return disclosure('phone', 'phone', text('phone'), content, context);
}
