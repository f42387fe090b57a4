/** The guide at the top of the API reference: keys, replies, lists, retries, verification, webhooks and errors. */
import { errorStatus, webhookEventType, type ErrorCode } from 'crypto-checkout/contract';
import { apiErrors } from '../reference/errors.js';
import type { Chapter } from './docs-widget.js';
import { code, html } from './html.js';

/** @param publicUrl where clients reach the API */
export function guide(publicUrl: string): readonly Chapter[] {
  return [
    { id: 'introduction', title: 'Introduction', content: introduction(publicUrl) },
    { id: 'keys', title: 'API keys', content: keys },
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
    The base URL of the API is <code>${publicUrl}/v1</code>. Requests and replies are JSON. The API also
    describes itself: insert <code>/meta</code> after <code>/v1</code> in any path to get the docs of that
    endpoint.
  </p>
  <p>A payment takes five steps:</p>
  <ol>
    <li><a href="#payments-create">Create</a> the payment, with the price in your own currency.</li>
    <li><a href="#payments-set-currency">Set</a> the cryptocurrency and network that the customer chose.</li>
    <li>
      <a href="#payments-lock-currency">Lock</a> the currency. From now on the amount, the fee and the address
      are final.
    </li>
    <li>The customer sends the funds to the address.</li>
    <li>
      <a href="#transactions-verify">Verify</a> the payment when the customer returns or a
      <a href="#webhooks">webhook</a> arrives, then deliver.
    </li>
  </ol>
  <p>The widget and the hosted page do steps 2 to 4 for you.</p>
  <p>
    With test keys, no real money moves: networks are simulated, or public test networks if the operator has
    added some. Use the <a href="#sandbox">sandbox</a> to send simulated funds, add blocks and move the clock.
  </p>
`;

const keys = html`
  <p>Send an API key with every request: <code>Authorization: Bearer &lt;API_KEY&gt;</code>.</p>
  <dl class="parameters">
    <div>
      <dt><code>sk_test_…</code> <code>sk_live_…</code></dt>
      <dd>
        Secret keys work on every endpoint. Keep them on your server. Never put one in a page, an app or a
        repository.
      </dd>
    </div>
    <div>
      <dt><code>pk_test_…</code> <code>pk_live_…</code></dt>
      <dd>
        Public keys are made for pages. They work only on the payment endpoints and on
        <a href="#transactions-verify-checkout">verify/checkout</a>.
      </dd>
    </div>
  </dl>
  <p>
    Test and live mode are separate. A test key sees only test records, the simulated networks, and the public
    test networks that the operator has added. A live key sees only live records and live networks.
  </p>
  <p>
    Create and revoke keys on the server's command line, with <code>keys create</code> and
    <code>keys revoke</code>. A secret key is shown only once, when it is created.
  </p>
`;

const replies = html`
  <p>
    Every reply has the same envelope. <code>status</code> is <code>success</code> or <code>error</code>.
    <code>message</code> is a short text for people. <code>data</code> is a record, a list of records, or the
    details of an error.
  </p>
  <ul>
    <li>A success is always HTTP 200. An error never is.</li>
    <li>
      Requests may send numbers and booleans as text: <code>"5000"</code>, <code>"true"</code>. Unknown fields
      are ignored.
    </li>
    <li>
      Amounts are JSON numbers with at most 15 significant digits. Send an amount as text if your language
      cannot hold it exactly.
    </li>
    <li>
      Times are ISO 8601 in UTC, with milliseconds. The one exception is <code>expiresBy</code>, in
      milliseconds since 1970.
    </li>
    <li>
      Replies may gain new fields at any time. Within <code>/v1</code>, no field is removed and none changes
      its meaning.
    </li>
    <li>The header <code>X-Request-Id</code> identifies the request. Quote it when you report a problem.</li>
  </ul>
`;

const lists = html`
  <p>
    Lists return the newest record first. They take <code>page</code>, starting at 1, and <code>skip</code>,
    the number of rows per page: 25 by default, 100 at most. <code>from</code> and <code>to</code> limit the
    list to records created between two dates or times in UTC, both inclusive.
  </p>
  <p>
    <code>meta.pagination</code> says where you are: <code>total</code> is the number of matching rows,
    <code>count</code> the number in this reply, and <code>from</code> and <code>to</code> the row numbers of
    the first and the last. If the page is empty, both are 0.
  </p>
`;

const retries = html`
  <p>
    If a connection breaks, you cannot know whether your request took effect. To retry safely, send an
    <code>Idempotency-Key</code> with every POST and PATCH: a random value of up to 255 characters, new for
    each change. Use the same key for every retry of that change. The change then happens once, and each retry
    gets the first reply again, with the header <code>Idempotent-Replayed: true</code>. A key is remembered
    for 24 hours.
  </p>
  <ul>
    <li>After a 429 or 503, wait for the seconds in <code>Retry-After</code>, then retry.</li>
    <li>After a 500 or a broken connection, retry with the same key.</li>
    <li>
      After <code>idempotency_in_progress</code>, retry in a moment: the first request is still running.
    </li>
    <li>Do not retry other errors. They fail again until you change the request.</li>
  </ul>
`;

const verification = html`
  <p>
    A page runs on the customer's machine, so never deliver because a page says “paid”. Let your server fetch
    the transaction with your secret key, and check five rules:
  </p>
  <ol>
    <li><code>txRef</code> is the reference of the order.</li>
    <li>
      <code>mode</code> is <code>live</code>. Anybody can make a test payment succeed, so accept
      <code>test</code> only in your test environment.
    </li>
    <li><code>status</code> is <code>success</code>.</li>
    <li>
      <code>baseAmount</code> and <code>baseCurrency</code> are the price of the order, and
      <code>currency</code> is one that you accept.
    </li>
    <li>
      <code>amountReceived</code> is not less than <code>amount</code>. It is higher if the customer overpaid,
      and the excess is credited to you. If <code>currency</code> is the same as <code>baseCurrency</code>, it
      is not less than <code>baseAmount</code> either.
    </li>
  </ol>
  <p>
    In JavaScript, <code>verifyPayment</code> from <code>crypto-checkout/client</code> checks all five. Mark
    the order as paid in the same step, so that you deliver it only once.
  </p>
`;

const webhooks = html`
  <p>
    When a payment, deposit, transfer or subscription changes, the server sends a POST to your account's
    webhook URL. The body has the <code>type</code> of the event, its <code>timestamp</code>, and
    <code>data</code>: the record as it was at that time. Set the URL on the server's command line, with
    <code>merchants update ID --webhook-url URL --mode test</code> or <code>--mode live</code>: each mode has
    its own URL.
  </p>
  <ul>
    <li>
      Verify the signature before you use the body. Webhooks follow <cite>Standard Webhooks</cite>: check
      <code>webhook-signature</code> against the raw body with your secret, <code>whsec_…</code>. In
      JavaScript, <code>verifyWebhook</code> from <code>crypto-checkout/client</code> does this.
    </li>
    <li>Reply with any 2xx within 15 seconds, and do slow work afterwards.</li>
    <li>
      After any other reply, delivery is retried: ten attempts over three days. A
      <code>410 Gone</code> disables the URL until you set it again.
    </li>
    <li>
      The same event can arrive twice. <code>webhook-id</code> is the same each time: handle each id once.
    </li>
    <li>
      Events can arrive out of order. <code>data.sequence</code> rises with each event of a record: ignore an
      event whose number is below the last one you handled.
    </li>
    <li>Reply 204 to types that you do not know. New ones may be added.</li>
  </ul>
  <p>The types of events are:</p>
  <ul class="columns">
    ${webhookEventType.options.map((type) => html`<li><code>${type}</code></li>`)}
  </ul>
`;

const errors = html`
  <p>
    Every error has a code in <code>data.code</code>. Branch on the code, not on <code>message</code>, whose
    wording may change. <code>data.docsUrl</code> links to the explanation of the code.
    <a href="docs/errors">Errors</a> explains each one and says what to do.
  </p>
  <dl class="parameters">
    ${(Object.keys(errorStatus) as ErrorCode[]).map(
      (name) =>
        html`<div id="error-${name}">
          <dt>
            <a href="docs/errors#${name}"><code>${name}</code></a>
            <span class="status">${String(errorStatus[name])}</span>
          </dt>
          <dd>${code(apiErrors[name].meaning)}</dd>
        </div>`,
    )}
  </dl>
`;
