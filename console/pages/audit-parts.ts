/** An entry of the audit log, in words. */
import { html, nothing, type TemplateResult } from 'lit';
import type { settingsApi } from '../../src/contract/console-settings.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { amount } from '../format.js';
import { texts, type Audited, type DescribedAction } from '../messages/audit.js';
import type { View } from '../page.js';

export type AuditEntry = ParsedData<typeof settingsApi.auditLog.list>[number];
/** Decimals of a currency’s smallest unit, by its code. */
export type Decimals = ReadonlyMap<string, number>;

/** `case.handled` as `case handled`, for an action that has no sentence here. */
const words = (action: string) => action.replaceAll('_', ' ').replace('.', ' ');

const isDescribed = (action: string): action is DescribedAction => action in texts.sentences;

export const actions = Object.keys(texts.sentences).sort();

/** The page of an entry’s record, by the resource of its action: with the record’s id, or the page that lists it. */
const pageOf: Readonly<Record<string, readonly [page: string, isOfRecord?: true]>> = {
  merchant: ['shop'],
  webhook: ['developers'],
  webhooks: ['delivery', true],
  key: ['developers'],
  wallet_address: ['money'],
  balance: ['money'],
  transfer: ['transfer', true],
  payout: ['money'],
  payment: ['payment', true],
  payments: ['payment', true],
  transactions: ['payment', true],
  cases: ['payment', true],
  refund: ['refunds'],
  psbt: ['exports'],
  treasury: ['sweeps'],
  sweep: ['sweeps'],
  link: ['link', true],
  mail: ['mail'],
  person: ['team'],
  session: ['team'],
  customers: ['customer', true],
  paymentPlans: ['plan', true],
  subscribers: ['subscribers'],
  wallets: ['wallet', true],
};
/** Their subject is an export, or nothing that can be opened. */
const elsewhere: Readonly<Record<string, string>> = {
  'transfer.exported': 'exports',
  'transfer.handed': 'exports',
  'transfer.wallet_answered': 'exports',
  'mail.staff_chosen': 'account',
  'webhooks.retryFailed': 'developers',
};

function linkOf({ action, subjectId, after }: AuditEntry, view: View): string | undefined {
  const call = action === 'console.change' ? after?.['call'] : undefined;
  const name = typeof call === 'string' ? call : action;
  const [listed, isOfRecord] = pageOf[name.split('.')[0] ?? ''] ?? [];
  const page = elsewhere[name] ?? listed;
  if (page === undefined || !view.sees(page)) return undefined;
  if (elsewhere[name] !== undefined || !isOfRecord) return view.link(page);
  return subjectId === '' ? undefined : view.link(page, subjectId);
}

const textOf = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

function sumOf(fields: Readonly<Record<string, unknown>>, decimals: Decimals): string {
  const currency = textOf(fields['currency']);
  const [given, units] = [textOf(fields['amount']), textOf(fields['units'])];
  if (currency === '') return '';
  if (given !== '') return amount(given, currency);
  const places = decimals.get(currency);
  if (!/^\d+$/.test(units) || places === undefined) return '';
  const digits = units.padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places);
  return amount(places === 0 ? whole : `${whole}.${digits.slice(-places)}`, currency);
}

/** “ada@shop.example”; of a key, a command or the server, its name. */
export const actorOf = ({ person, actor }: Pick<AuditEntry, 'person' | 'actor'>): string =>
  person ? (person.email ?? texts.erased) : actor === 'server' ? texts.server : actor;

/** “Ada approved a refund of 18.38 USDT”, with links to the record and to all that the person did. */
export function sentenceOf(entry: AuditEntry, decimals: Decimals, view: View): TemplateResult {
  const { action, person } = entry;
  const [before, after] = [entry.before ?? {}, entry.after ?? {}];
  const fields = { ...before, ...after };
  const named = textOf(fields['email'] ?? fields['name']);
  const audited: Audited = { fields, before, after, named, sum: sumOf(fields, decimals) };
  const sentence = isDescribed(action) ? texts.sentences[action](audited) : words(action);
  const href = linkOf(entry, view);
  const parts = sentence
    .split(/[{}]/)
    .map((part, index) =>
      index % 2 === 0 || part === '' ? part : href ? html`<a href=${href}>${part}</a>` : part,
    );
  const name = actorOf(entry);
  const who = person
    ? html`<a
        href=${view.link('audit', undefined, { ...Object.fromEntries(view.query), person: person.id, page: undefined })}
        title=${texts.onlyBy(name)}
        >${name}</a
      >`
    : html`${name}${/[ ,]/.test(name) ? ':' : ''}`;
  return html`<p class="sentence">${who} ${parts}</p>`;
}

/** The entry as it is stored. */
export function storedView({ actor, subjectId, before, after }: AuditEntry): TemplateResult {
  const fields = (name: string, values: AuditEntry['before']) =>
    values && Object.keys(values).length > 0
      ? html`<dt>${name}</dt>
          <dd><code>${JSON.stringify(values)}</code></dd>`
      : nothing;
  return html`<details class="stored">
    <summary>${texts.details}</summary>
    <dl>
      <dt>${texts.request}</dt>
      <dd>${actor}</dd>
      ${
        subjectId === ''
          ? nothing
          : html`<dt>${texts.record}</dt>
              <dd><code>${subjectId}</code></dd>`
      }
      ${fields(texts.before, before)} ${fields(texts.after, after)}
    </dl>
  </details>`;
}
