/** What the reference page says before its endpoints: keys, replies, errors, retries, lists, webhooks. */
import { errorStatus, webhookEventType, type ErrorCode } from 'crypto-checkout/contract';
import { errorMeanings } from '../reference/errors.js';
import { code, html, type Html } from './html.js';

export interface GuideArticle {
  readonly id: string;
  readonly title: string;
  readonly content: Html;
}

export function guide(publicUrl: string): readonly GuideArticle[] {
  return [
    { id: 'introduction', title: 'Introduction', content: introduction(publicUrl) },
    { id: 'keys', title: 'Keys', content: keys },
    { id: 'replies', title: 'Requests and replies', content: replies },
    { id: 'lists', title: 'Lists', content: lists },
    { id: 'retries', title: 'Retrying safely', content: retries },
    { id: 'verification', title: 'Verifying a payment', content: verification },
    { id: 'webhooks', title: 'Webhooks', content: webhooks },
    { id: 'errors', title: 'Errors', content: errors },
  ];
}

const introduction = (publicUrl: string) => html`
  <p>
    The API is at <code>${publicUrl}/v1</code>. It takes and answers JSON. Every endpoint also describes
    itself: insert <code>/meta</code> after <code>/v1</code> in its path.
  </p>
  <p>A payment runs in five steps:</p>
  <ol>
    <li><a href="#payments-create">Create</a> it with an amount in a base currency.</li>
    <li><a href="#payments-set-currency">Set</a> the paying currency and its network.</li>
    <li>
      <a href="#payments-lock-currency">Lock</a> the currency: amount, fee and address stand from here on.
    </li>
    <li>The customer sends the funds to the address.</li>
    <li>
      <a href="#transactions-verify">Verify</a> the transaction, or wait for the
      <a href="#webhooks">webhook</a>.
    </li>
  </ol>
  <p>
    The widget and the hosted page do all of this but the first and the last step. With test keys the networks
    are simulated: the <a href="#sandbox">sandbox</a> sends funds, adds blocks and moves the clock.
  </p>
`;

const keys = html`
  <p>Send a key with every request: <code>Authorization: Bearer &lt;API_KEY&gt;</code>.</p>
  <dl class="parameters">
    <div>
      <dt><code>sk_test_…</code> <code>sk_live_…</code></dt>
      <dd>Secret keys open everything. They belong on servers and never in a page.</dd>
    </div>
    <div>
      <dt><code>pk_test_…</code> <code>pk_live_…</code></dt>
      <dd>
        Public keys may stand in pages. They open the payment endpoints and
        <a href="#transactions-verify-checkout">verify/checkout</a>.
      </dd>
    </div>
  </dl>
  <p>
    Test keys see simulated networks and test records only, live keys real networks and live records only.
    Keys are made on the server's command line and shown once.
  </p>
`;

const replies = html`
  <p>
    Every reply is an envelope: <code>status</code> is <code>success</code> or <code>error</code>,
    <code>message</code> is a short text, <code>data</code> the record, the list of records, or what the error
    is about.
  </p>
  <ul>
    <li>Success is always HTTP 200. A failure never is.</li>
    <li>
      Numbers and booleans may also be sent as text: <code>"5000"</code>, <code>"true"</code>. Unknown fields
      are ignored.
    </li>
    <li>
      Amounts are JSON numbers of at most 15 significant digits. Times are ISO 8601 in UTC with milliseconds;
      <code>expiresBy</code> alone is in epoch milliseconds.
    </li>
    <li>Replies gain fields with time. Nothing under <code>/v1</code> is removed or changes its meaning.</li>
    <li>Every reply names the request in <code>X-Request-Id</code>. Quote it when you ask about a call.</li>
  </ul>
`;

const lists = html`
  <p>
    Lists of records take <code>page</code> (from 1), <code>skip</code> (rows per page: 25, at most 100),
    <code>from</code> and <code>to</code> (dates or times in UTC, inclusive). The newest record comes first.
  </p>
  <p>
    <code>meta.pagination</code> has <code>total</code> matches and the <code>count</code> of rows in this
    reply, from row <code>from</code> to row <code>to</code>. Both are 0 where the list is empty.
  </p>
`;

const retries = html`
  <p>
    Send a random <code>Idempotency-Key</code> of at most 255 characters with a POST or PATCH, and keep it for
    the retries of that change. The same request again gets the first reply again, with
    <code>Idempotent-Replayed: true</code>, and nothing happens twice. Keys are remembered for 24 hours.
  </p>
  <p>
    Retry 429 and 503 after the seconds in <code>Retry-After</code>, and 500 and broken connections with the
    same key. All else fails again until the request changes.
  </p>
`;

const verification = html`
  <p>Before you give value, your server asks for the transaction and checks four rules:</p>
  <ol>
    <li><code>txRef</code> is the reference of the order.</li>
    <li><code>status</code> is <code>success</code>.</li>
    <li>
      <code>currency</code> is one that you expect; <code>baseAmount</code> and <code>baseCurrency</code> are
      what the payment was created with.
    </li>
    <li><code>amountReceived</code> equals <code>amount</code> and covers what you give.</li>
  </ol>
`;

const webhooks = html`
  <p>
    A webhook is a POST to the account's URL with <code>type</code>, <code>timestamp</code> and
    <code>data</code>, signed as <cite>Standard Webhooks</cite> says: verify
    <code>webhook-signature</code> with the account's secret (<code>whsec_…</code>) before you believe it.
    Answer with 2xx within 15 seconds.
  </p>
  <p>
    Delivery is at least once, in no promised order, and is tried for some days. <code>webhook-id</code> is
    the same for every delivery of one event, and <code>data.sequence</code> rises with each event of a
    record.
  </p>
  <ul class="columns">
    ${webhookEventType.options.map((type) => html`<li><code>${type}</code></li>`)}
  </ul>
`;

const errors = html`
  <p>
    A failure has <code>data.code</code>, one of the codes below, and <code>data.requestId</code>.
    <code>data.param</code> names the field at fault, <code>data.errors</code> every field that did not parse.
    Branch on the code; the message is for people.
  </p>
  <dl class="parameters">
    ${(Object.keys(errorStatus) as ErrorCode[]).map(
      (name) =>
        html`<div id="error-${name}">
          <dt><code>${name}</code> <span class="status">${String(errorStatus[name])}</span></dt>
          <dd>${code(errorMeanings[name])}</dd>
        </div>`,
    )}
  </dl>
`;
