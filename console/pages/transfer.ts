/**
 * One transfer, and the ways to pay it.
 *
 * @place {"order": 60, "parent": "money", "permission": "transfers.retrieve"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import { transfersByHand } from '../../src/contract/console-payouts.js';
import { transfers } from '../../src/contract/transfers.js';
import { amount, time } from '../format.js';
import { texts } from '../messages/money.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { copyable } from '../ui/copy.js';
import { details, section, tag } from '../ui/details.js';
import { sumOf, tones, type Transfer } from './transfer-parts.js';

const load = async ({ api, id, signal }: View): Promise<Transfer> =>
  (await api(transfers.retrieve, { params: { transfer_id: id } }, signal)).data;

function render(one: Transfer, view: View): TemplateResult {
  const { status, fee, currency, walletAddress = '', walletNetwork, txHash, failureReason } = one;
  return html`<div class="panels">
    ${section(
      texts.transfers,
      details([
        [texts.status, tag(texts.statuses[status], tones[status])],
        [texts.amount, sumOf(one)],
        [texts.fee, amount(fee, currency)],
        [texts.to, copyable(walletAddress, view)],
        [texts.network, walletNetwork],
        [texts.transaction, txHash && copyable(txHash, view)],
        [texts.reason, failureReason],
        [texts.refund, one.refundId && html`<a href=${view.link('refunds')}>${one.refundId}</a>`],
        [texts.created, time(one.createdAt)],
        [texts.updated, time(one.updatedAt)],
      ]),
    )}
    ${
      status === 'pending'
        ? section(
            texts.statuses.pending,
            html`<p>${texts.waiting}</p>`,
            html`<a class="button" href=${view.link('exports')}>${texts.toSign}</a> ${button(view, {
                text: texts.settle,
                permission: 'transfersByHand.settle',
                isGuarded: true,
                run: () => settle(one, view),
              })}
              ${button(view, {
                text: texts.cancel,
                permission: 'transfersByHand.fail',
                isGuarded: true,
                run: () => cancel(one, view),
              })}`,
          )
        : nothing
    }
  </div>`;
}

async function settle({ id, currency }: Transfer, view: View): Promise<void> {
  const values = await view.ask({
    title: texts.settleTitle,
    text: texts.settleText,
    fields: [
      { name: 'txHash', label: texts.transaction, isRequired: true, asks: 'hash' },
      { name: 'networkFee', label: `${texts.networkFee} (${currency})`, hint: texts.networkFeeHint },
    ],
    action: texts.settleAction,
  });
  if (!values) return;
  const { txHash = '', networkFee = '' } = values;
  const body = { txHash, ...(networkFee !== '' && { networkFee }) };
  const params = { transfer_id: id };
  await view.act(() => view.api(transfersByHand.settle, { params, body }), texts.settled);
}

async function cancel(one: Transfer, view: View): Promise<void> {
  const values = await view.ask({
    title: texts.cancelTitle(sumOf(one)),
    text: texts.cancelText,
    fields: [{ name: 'reason', label: texts.cancelReason, isRequired: true }],
    action: texts.cancelAction,
    isFinal: true,
  });
  if (!values) return;
  const { reason = '' } = values;
  const params = { transfer_id: one.id };
  await view.act(() => view.api(transfersByHand.fail, { params, body: { reason } }), texts.cancelled);
}

export default page<Transfer>({
  title: (_view, data) => texts.one(data ? sumOf(data) : ''),
  load,
  render,
  everyMs: 10_000,
});
