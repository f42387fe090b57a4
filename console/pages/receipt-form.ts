/** Sending a receipt to the payer: as a text to copy, as a link, and by e-mail. Loaded when it is opened. */
import { html } from 'lit';
import { mailApi } from '../../src/contract/console-mail.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import type { PaymentRecord } from '../../src/contract/payment-record.js';
import { daysFrom } from '../days.js';
import { amount } from '../format.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/receipts.js';
import type { View } from '../page.js';
import { copyable, outside, short } from '../ui/copy.js';
import { details } from '../ui/details.js';
import { dayOf } from '../zone.js';

const { receiptMail } = mailApi;

/** In one line, for a chat or an e-mail of one's own. */
function textOf(payment: PaymentRecord, url: string): string {
  const { txRef, id, baseAmount, baseCurrency, amountReceived = 0, currency = '', networkName } = payment;
  const day = dayOf(Date.parse(payment.receipts.at(-1)?.firstSeenAt ?? payment.createdAt));
  return texts.text({
    order: txRef ?? id,
    price: amount(baseAmount, baseCurrency),
    paid: amount(amountReceived, currency),
    network: networkName ?? '',
    day: daysFrom(day, day),
    url,
  });
}

type Last = NonNullable<ParsedData<typeof receiptMail.retrieve>['last']>;

function mailStatus(to: string, last: Last | null): string {
  if (!last) return texts.goesTo(to);
  const age = common.age(last.secondsAgo);
  return last.isSent ? texts.wasSent(to, age) : texts.isWaiting(to, age);
}

export async function showReceipt(payment: PaymentRecord, url: string, view: View): Promise<void> {
  const params = { payment_id: payment.id };
  const found = view.can('receiptMail.send')
    ? await view.act(() => view.api(receiptMail.retrieve, { params }, view.signal))
    : undefined;
  const { to = null, blockedBy = null, last = null } = found?.data ?? {};
  const text = textOf(payment, url);
  const isSendable = found !== undefined && to !== null && blockedBy === null;
  const answer = await view.ask({
    title: texts.title(payment.txRef ?? payment.id),
    text: html`${details([
      [texts.copyText, copyable(text, view)],
      [texts.link, html`${copyable(url, view, short(url, 24, 6))} ${outside(url, texts.open)}`],
      [
        texts.mail,
        isSendable ? mailStatus(to, last) : blockedBy === null ? undefined : texts.blockers[blockedBy],
      ],
    ])}`,
    ...(isSendable && { action: last ? texts.sendAgain : texts.send }),
  });
  if (!answer || !isSendable) return;
  const body = { after: last?.id ?? null };
  const sent = await view.act(() => view.api(receiptMail.send, { params, body }));
  if (sent) view.say(sent.data.isNew ? texts.sent : texts.sentMeanwhile);
}
