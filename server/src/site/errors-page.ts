/** The page `/docs/errors`: what each error code means and what to do. Its anchors are the codes. */
import { STATUS_CODES } from 'node:http';
import { errorStatus, type ErrorCode } from 'crypto-checkout/contract';
import { apiErrors, clientErrors, type ErrorEntry } from '../reference/errors.js';
import { docsFrame, type ContentsGroup } from './docs-frame.js';
import { code, html, type Html } from './html.js';

interface Group {
  readonly id: string;
  readonly title: string;
  readonly note: Html;
  readonly entries: readonly (readonly [code: string, entry: ErrorEntry])[];
}

/** Headers that every reply of a status has, for the note below its heading. */
const headerNotes: Readonly<Record<number, string>> = {
  401: 'These replies have the header `WWW-Authenticate: Bearer`.',
  405: 'These replies have an `Allow` header.',
  429: 'These replies have a `Retry-After` header.',
  503: 'These replies have a `Retry-After` header.',
};

const groups: readonly Group[] = [
  ...[...new Set(Object.values(errorStatus))].map((status) => ({
    id: `http-${status}`,
    title: `${status} ${STATUS_CODES[status] ?? ''}`,
    note: code(headerNotes[status] ?? ''),
    entries: (Object.keys(errorStatus) as ErrorCode[])
      .filter((name) => errorStatus[name] === status)
      .map((name) => [name, apiErrors[name]] as const),
  })),
  {
    id: 'client',
    title: 'Widget and client',
    note: code(
      'The API never returns these codes. They are in `checkout-error` events and in the errors that `crypto-checkout/client` throws.',
    ),
    entries: Object.entries(clientErrors),
  },
];

export function errorsPage(): Html {
  const guide: ContentsGroup = {
    title: 'Guide',
    links: [
      html`<a href="#error-replies">Error replies</a>`,
      html`<a href="#what-to-retry">What to retry</a>`,
    ],
  };
  const codes = groups.map(({ title, entries }) => ({
    title,
    links: entries.map(([name]) => html`<a href="#${name}">${name}</a>`),
  }));
  return docsFrame({
    title: 'API errors',
    description: 'What each error code of the Crypto Checkout API means, and what to do about it',
    root: '../',
    link: { href: 'docs', text: 'API reference' },
    filterLabel: 'Filter error codes',
    contents: [guide, ...codes],
    main: html`${errorReplies} ${whatToRetry} ${groups.map(section)}`,
  });
}

function section({ id, title, note, entries }: Group): Html {
  return html`<section id="${id}" class="guide">
    <h2>${title}</h2>
    ${note.text === '' ? html`` : html`<p class="lead">${note}</p>`}
    <dl class="parameters">
      ${entries.map(
        ([name, { meaning, cause, remedy }]) =>
          html`<div id="${name}">
            <dt>
              <a href="#${name}"><code>${name}</code></a>
              ${httpStatus(name)}
            </dt>
            <dd>${code(meaning)} ${code(cause)}</dd>
            <dd><strong>What to do:</strong> ${code(remedy)}</dd>
          </div>`,
      )}
    </dl>
  </section>`;
}

function httpStatus(name: string): Html {
  const status = Object.entries(errorStatus).find(([known]) => known === name)?.[1];
  return status === undefined ? html`` : html`<span class="status">HTTP ${String(status)}</span>`;
}

const errorReplies = html`<section id="error-replies" class="guide">
  <h2>Error replies</h2>
  <p>
    An error reply has <code>status: "error"</code>, a <code>message</code> for people, and the details in
    <code>data</code>. Its HTTP status is never 200.
  </p>
  <dl class="parameters">
    ${(
      [
        ['code', 'One of the codes below. Branch on it: unlike `message`, it never changes.'],
        ['requestId', 'Identifies the request in the server’s log. Quote it when you report a problem.'],
        ['docsUrl', 'Links to the entry of the code on this page.'],
        ['param', 'The invalid field, if there is one, with dots for nested fields: `customer.email`.'],
        ['errors', 'With `validation_error`: every invalid field, each with its `path` and a `message`.'],
        [
          'paymentId',
          'With `duplicate_tx_ref` and a secret key: the payment that already has the reference.',
        ],
      ] as const
    ).map(
      ([name, text]) =>
        html`<div>
          <dt><code>${name}</code></dt>
          <dd>${code(text)}</dd>
        </div>`,
    )}
  </dl>
  <p>
    Requests are checked in this order: API key, path and method, kind of key, input, record. So without a
    valid key every path under <code>/v1</code> returns 401, whether it exists or not.
  </p>
</section>`;

const whatToRetry = html`<section id="what-to-retry" class="guide">
  <h2>What to retry</h2>
  <ul>
    <li>429 and 503: wait for the seconds in <code>Retry-After</code>, then retry.</li>
    <li>
      500 and broken connections: retry with the same <code>Idempotency-Key</code>, so that the change happens
      once.
    </li>
    <li><code>idempotency_in_progress</code>: retry in a moment, unchanged.</li>
    <li>Everything else fails again until the request changes.</li>
  </ul>
</section>`;
