/** Shows the payer coins that do not count for the payment. */
import { html, type TemplateResult } from 'lit';
import type { TrackedState } from '../checkout/state.js';
import { networkName } from './quoted.js';
import type { ViewContext } from './view.js';

/** Coins that arrived but do not count, each by name and amount. The payment continues. */
export function wrongAssets({ payment }: TrackedState, { text, money }: ViewContext): TemplateResult[] {
  const { receipts = [], currency = '', currencyOptions = [] } = payment;
  return receipts
    .filter(({ counts, status }) => !counts && status !== 'lost')
    .map((receipt) => {
      const option = currencyOptions.find(({ network }) => network === receipt.network);
      const network =
        receipt.network === payment.currencyNetwork
          ? networkName(payment)
          : (option?.networkName ?? receipt.network);
      const values = { amount: money(receipt.amount, receipt.currency), network, currency };
      return html`<p part="wrong-asset" class="error" role="alert">
        ${text('wrongAsset', { ...values, asked: networkName(payment) })}
      </p>`;
    });
}
