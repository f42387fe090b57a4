/** The receipt of a payment, `{PUBLIC_URL}/receipt/{payment id}`: what the server knows of it now, to show, send and print. */
import { fileURLToPath } from 'node:url';
import { Router } from 'express';
import {
  isInGroup,
  worthOf,
  type PaymentRecord,
  type PaymentRefund,
  type Receipt,
} from 'crypto-checkout/contract';
import { isoTime } from '../shared/clock.js';
import { money, price } from '../money/shown.js';
import { html, Html } from './html.js';
import {
  createKeptPages,
  localeOf,
  notice,
  pathOf,
  policyOf,
  sendDocument,
  sendPage,
  sendStylesheet,
} from './page-frame.js';
import type { PageTexts } from './page-texts.js';

/** The payment as a public key reads it, the same object until it changes, and the time on its merchant's clock; undefined if it has no receipt. */
type FindReceipt = (
  id: string,
) => Promise<{ readonly payment: PaymentRecord; readonly now: number } | undefined>;

/** The placeholder of the time that the page describes. No text of a payment can contain it, since that is escaped. */
const timeMark = '<time></time>';

/** Images: the shop's logo. The script only formats times and prints. */
const policy = policyOf({ scripts: "'self'", images: 'https: data:' });

const scriptFile = fileURLToPath(new URL('../../../data/receipt.js', import.meta.url));

export function receiptPage(publicUrl: string, findReceipt: FindReceipt): Router {
  // A proxy takes the path of PUBLIC_URL off each request.
  const path = `${pathOf(publicUrl)}/receipt`;
  const stylesheet = `${path}/page.css`;
  const head = html`<script src="${path}/page.js" defer></script>`;
  const keptPage = createKeptPages();
  const router = Router();
  router.get('/receipt/page.css', sendStylesheet);
  router.get('/receipt/page.js', (_request, response) => response.sendFile(scriptFile, { maxAge: 300_000 }));
  router.get('/receipt/:id', async (request, response) => {
    const locale = localeOf(request);
    const { hosted, receipt: texts } = locale.texts;
    const page = { locale, stylesheet, policy };
    const found = await findReceipt(request.params.id);
    if (!found) {
      const content = notice(hosted.notFound, hosted.notFoundHelp);
      return sendPage(response, { ...page, status: 404, title: hosted.notFound, content });
    }
    const { payment, now } = found;
    const text = keptPage(`${payment.id} ${locale.tag}`, payment, () => {
      const title = `${texts.receipt} · ${payment.branding?.businessName ?? ''}`;
      return { ...page, head, title, content: view(payment, title, texts) };
    });
    sendDocument(
      response,
      { ...page, status: 200 },
      text.replace(timeMark, () => time(isoTime(now)).text),
    );
  });
  return router;
}

/** Anyone with the link can read this: nothing of the payer, neither name, email, phone number nor sending address. */
function view(payment: PaymentRecord, title: string, texts: PageTexts['receipt']): Html {
  // This server sends the state with every payment; the contract lets others leave it out.
  const { state = 'created', mode, receipts } = payment;
  const [before = '', after = ''] = texts.asOf.split('{time}');
  const unlisted = (payment.unlistedReceipts ?? []).map(({ count, amount, currency }) => {
    const text = texts.unlisted.replace('{count}', String(count));
    return html`<p>${text.replace('{amount}', money(amount, currency))}</p>`;
  });
  const logo = payment.branding?.logo ?? '';
  return html`<main class="receipt">
    ${logo.startsWith('https:') ? html`<img class="logo" src="${logo}" alt="" />` : ''}
    <h1>${title}</h1>
    <p class="state">${texts.states[state]}</p>
    <p>${before}${new Html(timeMark)}${after}</p>
    ${mode === 'test' ? html`<p>${texts.test}</p>` : ''}
    <dl>${rowsOf(payment, texts).map(([name, value]) => row(name, html`${value}`))}</dl>
    <h2>${texts.transfers}</h2>
    ${
      receipts.length === 0
        ? html`<p>${texts.none}</p>`
        : html`<dl>${receipts.map((receipt) => transfer(receipt, texts))}</dl>`
    }
    ${unlisted}
    ${
      payment.refunds
        ? html`<h2>${texts.refunds}</h2>
            <dl>${payment.refunds.map((refund) => refundRow(refund, texts))}</dl>`
        : ''
    }
    <button type="button" class="print" hidden>${texts.print}</button>
  </main>`;
}

type Row = readonly [name: string, value: string | Html];

function rowsOf(payment: PaymentRecord, texts: PageTexts['receipt']): readonly Row[] {
  const { currency = '', networkName = '', amount = 0, amountSeen = 0, baseAmount, baseCurrency } = payment;
  const paid = isInGroup(payment.state, 'success')
    ? payment.transactionTimeLog.findLast(({ type, code }) => type === 'success' && code !== 'refund_paid')
        ?.time
    : undefined;
  const paidAt: readonly Row[] = paid === undefined ? [] : [[texts.paidAt, time(paid)]];
  const locked: readonly Row[] = [
    [texts.due, ltr(money(amount, currency))],
    [texts.received, ltr(money(amountSeen, currency))],
    [texts.network, networkName],
    [texts.rate, ltr(`1 ${currency} ≈ ${price(worthOf(1, amount, baseAmount), baseCurrency)}`)],
  ];
  return [
    [texts.shop, payment.branding?.businessName ?? ''],
    [texts.order, payment.txRef ?? ''],
    [texts.price, ltr(price(baseAmount, baseCurrency))],
    ...(payment.isCurrencyLocked ? locked : []),
    [texts.created, time(payment.createdAt)],
    ...paidAt,
    [texts.paymentId, ltr(payment.id)],
  ];
}

function transfer(receipt: Receipt, texts: PageTexts['receipt']): Html {
  const { amount, currency, counts, status, txHash, explorerUrl, firstSeenAt } = receipt;
  const progress = texts.unconfirmed
    .replace('{confirmations}', String(receipt.confirmations))
    .replace('{required}', String(receipt.requiredConfirmations));
  const depth = status === 'confirmed' ? texts.confirmed : status === 'lost' ? texts.lost : progress;
  return row(
    ltr(money(amount, currency)),
    facts(
      html`${counts && status !== 'lost' ? texts.counted : texts.notCounted} · ${depth}`,
      time(firstSeenAt),
      hashLink(txHash, explorerUrl),
    ),
  );
}

/** Shows neither the link nor the destination of a refund. */
function refundRow(refund: PaymentRefund, texts: PageTexts['receipt']): Html {
  const { amount, feeKept, currency, status, txHash, explorerUrl = '' } = refund;
  const kept = feeKept > 0 ? [html`${texts.feeKept.replace('{amount}', money(feeKept, currency))}`] : [];
  const link = txHash === undefined ? [] : [hashLink(txHash, explorerUrl)];
  return row(ltr(money(amount, currency)), facts(html`${texts[refundTexts[status]]}`, ...kept, ...link));
}

const refundTexts = {
  awaiting_address: 'refundStarted',
  awaiting_approval: 'refundStarted',
  approved: 'refundSending',
  processing: 'refundSending',
  paid: 'refundPaid',
  cancelled: 'refundEnded',
  expired: 'refundEnded',
  failed: 'refundEnded',
} as const;

function hashLink(txHash: string, explorerUrl: string): Html {
  const hash = ltr(txHash);
  // Configured by the operator; a script in it must not run.
  return /^https?:/.test(explorerUrl)
    ? html`<a href="${explorerUrl}" rel="noopener noreferrer">${hash}</a>`
    : hash;
}

function row(name: string | Html, value: Html): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

/** One below the other; on paper, next to each other. */
const facts = (...all: readonly Html[]): Html => html`${all.map((one) => html`<div>${one}</div>`)}`;

/** Text that reads from left to right in every language. */
function ltr(text: string): Html {
  return html`<bdi dir="ltr">${text}</bdi>`;
}

/** In UTC, "2026-11-23 01:34:07 UTC", until the page's script shows the reader's own time. */
function time(iso: string): Html {
  return html`<time datetime="${iso}" dir="ltr">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`;
}
