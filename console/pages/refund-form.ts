/** Starting a refund: each kind with the sum that the server quotes for it, before anything happens. */
import { html } from 'lit';
import type { ParsedData } from '../../src/contract/endpoint.js';
import type { PaymentRecord } from '../../src/contract/payment-record.js';
import { refunds } from '../../src/contract/refunds.js';
import { amount } from '../format.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/payments.js';
import type { View } from '../page.js';
import { showLink } from '../ui/show-link.js';

type Quote = ParsedData<typeof refunds.quote>[number];

/** The kind that fits comes first: money above the price, or money that did not pay it. */
const order: readonly Quote['kind'][] = ['excess', 'unaccepted', 'full'];

const sum = (one: Quote) => amount(one.amount, one.currency);

function rowOf(one: Quote, index: number): readonly [value: string, label: string] {
  const kept = one.feeKept > 0 ? texts.refundKept(amount(one.feeKept, one.currency)) : '';
  return [String(index), texts.refundRow(texts.kinds[one.kind], sum(one), one.network) + kept];
}

/** The page must have asked for a fresh sign-in. */
export async function refund({ id }: PaymentRecord, view: View): Promise<void> {
  const params = { payment_id: id };
  const reply = await view.act(() => view.api(refunds.quote, { params }));
  if (!reply) return;
  const quotes = [...reply.data].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const most = quotes.find(({ kind }) => kind === 'full') ?? quotes[0];
  if (!most) {
    await view.ask({ title: texts.refundTitle, text: texts.refundNothing });
    return;
  }
  const values = await view.ask({
    title: texts.refundTitle,
    text: html`<p>${texts.refundText}</p>`,
    fields: [
      {
        name: 'kind',
        label: texts.kind,
        value: '0',
        isInRows: true,
        options: [...quotes.map(rowOf), ['partial', texts.refundPart(sum(most))]],
      },
      { name: 'amount', label: `${texts.part} (${common.optional})`, type: 'number' },
      {
        name: 'networkFee',
        label: texts.networkFee,
        options: [
          ['merchant', texts.merchantPays],
          ['payer', texts.payerPays],
        ],
        hint: most.fee > 0 ? texts.networkFeeHint(amount(most.fee, most.currency)) : '',
      },
      { name: 'reason', label: `${texts.reason} (${common.optional})` },
    ],
    action: texts.refundAction,
  });
  if (!values) return;
  const isPart = values['kind'] === 'partial';
  const { kind, currency, network } = isPart ? most : (quotes[Number(values['kind'])] ?? most);
  const body = {
    currency,
    network,
    kind: isPart ? ('partial' as const) : kind,
    amount: isPart ? values['amount'] : undefined,
    networkFee: values['networkFee'] === 'payer' ? ('payer' as const) : ('merchant' as const),
    reason: values['reason'] || undefined,
  };
  const made = await view.act(() => view.api(refunds.create, { params, body }));
  if (!made) return;
  const { claimUrl, amount: value } = made.data;
  const given = amount(value, currency);
  // The reply to a repeated call has no link: the first reply was lost.
  if (claimUrl) await showLink(view, texts.refundReady(given), claimUrl, texts.refundReadyText);
  else view.say(texts.refundUnlinked(given));
}
