/** A list of refunds and what can be done with each: on its own page, and on the page of a payment. */
import { html, nothing, type TemplateResult } from 'lit';
import type { ParsedData } from '../../src/contract/endpoint.js';
import type { RefundStatus } from '../../src/contract/payment-record.js';
import { refunds } from '../../src/contract/refunds.js';
import { amount, time } from '../format.js';
import { texts } from '../messages/refunds.js';
import type { View } from '../page.js';
import { button } from '../ui/button.js';
import { blocks, outside, short } from '../ui/copy.js';
import { details, tag } from '../ui/details.js';
import { choice, listOf } from '../ui/list.js';
import { rowActions } from '../ui/more.js';
import { showLink } from '../ui/show-link.js';

export type Refund = ParsedData<typeof refunds.retrieve>;

const tones: Partial<Record<RefundStatus, 'good' | 'bad' | 'caution'>> = {
  paid: 'good',
  failed: 'bad',
  awaiting_approval: 'caution',
};

const sum = (one: Refund) => amount(one.amount, one.currency);

/** The amount that arrives, the network's fee and who bears it, and the amount that the shop keeps. */
function sumAndFee(one: Refund): TemplateResult {
  const fee = one.fee === 0 ? undefined : amount(one.fee, one.currency);
  const notes = [
    one.networkFee === 'payer' ? texts.payerPays(fee) : fee === undefined ? [] : texts.shopPays(fee),
    one.feeKept > 0 ? texts.feeKept(amount(one.feeKept, one.currency)) : [],
  ].flat();
  return html`${sum(one)} ${notes.map((note) => html`<small>${note}</small>`)}`;
}

/** @param about the subject of the page: on a payment's, no row links to it again */
export const refundList = (about: 'payment' | 'all') =>
  listOf(refunds.list, {
    label: texts.title,
    filters: [choice('status', texts.filter, texts.statuses, (status) => ({ status }))],
    href: about === 'payment' ? undefined : (one, view) => view.link('payment', one.paymentId),
    columns: (view) => [
      { label: texts.order, cell: (one) => one.txRef },
      { label: texts.amount, kind: 'money', cell: sumAndFee },
      {
        label: texts.status,
        kind: 'status',
        cell: (one) =>
          tag(one.cancelReason === null ? texts.statuses[one.status] : texts.completed, tones[one.status]),
      },
      { label: texts.address, kind: 'hash', cell: destination },
      { label: texts.created, kind: 'time', cell: (one) => time(one.createdAt) },
      { label: texts.actions, kind: 'actions', cell: (one) => actions(one, view) },
    ],
  });

function destination({ address, sameWallet, txHash, explorerUrl }: Refund): TemplateResult | string {
  if (address === null) return '–';
  const proof = sameWallet === null ? texts.unsigned : sameWallet ? texts.sameWallet : texts.unproven;
  return html`<code>${short(address)}</code>
    <small>${proof}</small> ${txHash ? outside(explorerUrl, short(txHash)) : nothing}`;
}

function actions(one: Refund, view: View): unknown {
  const params = { refund_id: one.id };
  const isWaiting = one.status === 'awaiting_address' || one.status === 'awaiting_approval';
  const isUnderWay = one.status === 'approved' || one.status === 'processing';
  const kind = 'small';
  const link = async () => {
    const made = await view.act(() => view.api(refunds.link, { params }));
    if (made?.data.claimUrl) await showLink(view, texts.linkReady, made.data.claimUrl, texts.linkText);
  };
  const main =
    one.status === 'awaiting_approval'
      ? button(view, {
          text: texts.approve,
          permission: 'refunds.approve',
          isGuarded: true,
          run: () => approve(one, view),
          kind: 'main small',
        })
      : isUnderWay && one.transferId !== null && view.sees('transfer')
        ? html`<a class="button small" href=${view.link('transfer', one.transferId)}>${texts.toTransfer}</a>`
        : nothing;
  const entries = isWaiting
    ? [
        button(view, { text: texts.link, permission: 'refunds.link', run: link, kind }),
        button(view, {
          text: texts.decline,
          permission: 'refunds.cancel',
          run: () => decline(one, view),
          kind,
        }),
      ]
    : [];
  return rowActions(one.id, [main, ...entries]);
}

/** Sends the address that was shown: if the payer has changed it since, nothing is approved. */
async function approve(one: Refund, view: View): Promise<void> {
  const { address, sameWallet } = one;
  if (address === null) return;
  const { proven, unproven, unsigned } = texts.proofs;
  const answer = await view.ask({
    title: texts.approveTitle(sum(one)),
    text: html`<p>${texts.approveText}</p>
      ${details([
        [texts.address, blocks(address)],
        [texts.network, one.network],
        [texts.payerGets, sum(one)],
        [texts.kind, texts.kinds[one.kind]],
        [texts.reason, one.reason],
        [texts.order, one.txRef],
        [texts.askedBy, one.createdBy],
      ])}
      ${one.feeKept > 0 ? html`<p>${texts.approveFee(amount(one.feeKept, one.currency))}</p>` : nothing}
      <p class=${sameWallet ? 'calm' : 'story'}>
        ${sameWallet === null ? unsigned : sameWallet ? proven : unproven}
      </p>`,
    action: texts.approveAction(sum(one)),
    isFinal: true,
  });
  if (!answer) return;
  const input = { params: { refund_id: one.id }, body: { address } };
  await view.act(() => view.api(refunds.approve, input), texts.approvedNext);
}

async function decline(one: Refund, view: View): Promise<void> {
  const answer = await view.ask({
    title: texts.declineTitle(sum(one)),
    text: texts.declineText,
    action: texts.declineAction,
    isFinal: true,
  });
  if (!answer) return;
  await view.act(() => view.api(refunds.cancel, { params: { refund_id: one.id } }), texts.declined);
}
