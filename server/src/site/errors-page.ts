/** The page `/docs/errors`: what each error code means and what to do. Its anchors are the codes. */
import { STATUS_CODES } from 'node:http';
import { errorStatus, type ErrorCode } from 'crypto-checkout/contract';
import { apiErrors, clientErrors, errorReplies, type ErrorEntry } from '../reference/errors.js';
import { docsFrame, type ContentsGroup } from './docs-frame.js';
import { code, html, markdown, type Html } from './html.js';

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
  const guide: ContentsGroup = { title: 'Guide', links: [html`<a href="#error-replies">Error replies</a>`] };
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
    main: html`<section id="error-replies" class="guide">
        <h2>Error replies</h2>
        ${markdown(errorReplies)}
      </section>
      ${groups.map(section)}`,
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
