/**
 * The home page: records that need attention, and sales.
 *
 * @place {"order": 10, "label": "Home", "permission": "home.retrieve"}
 */
import { html, nothing, svg, type TemplateResult } from 'lit';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { cases } from '../../src/contract/console-cases.js';
import { goLive as goLiveApi } from '../../src/contract/console-go-live.js';
import { home } from '../../src/contract/home.js';
import { countsOf, pageOf } from '../attention.js';
import { onServer } from '../command-line.js';
import { amount, time } from '../format.js';
import { language } from '../messages/pick.js';
import { texts } from '../messages/home.js';
import { page, type View } from '../page.js';
import { sumOfDecimals } from '../sum.js';
import { button } from '../ui/button.js';
import { copyable } from '../ui/copy.js';
import { section } from '../ui/details.js';
import { publicKeyOf, teachTag } from '../ui/teach-tag.js';
import { goLiveSection, type GoLive } from './go-live-parts.js';

type Overview = ParsedData<typeof home.retrieve>;
type Mine = ParsedData<typeof cases.listMine>;
interface Data {
  readonly overview: Overview;
  readonly mine: Mine;
  /** Undefined for roles that cannot take the steps. */
  readonly goLive: GoLive | undefined;
  /** For the tag, while nothing was sold. */
  readonly publicKey: string | undefined;
}
type Attention = Overview['attention'][number];
type Volume = Overview['volume'][number];

async function load(view: View): Promise<Data> {
  const { api, can, signal } = view;
  const [overview, mine, goLive] = await Promise.all([
    api(home.retrieve, {}, signal),
    can('cases.listMine') ? api(cases.listMine, {}, signal) : undefined,
    can('goLive.retrieve') ? api(goLiveApi.retrieve, {}, signal) : undefined,
  ]);
  const isNew = overview.data.volume.length === 0 && can('payments.create');
  const publicKey = isNew ? await publicKeyOf(view) : undefined;
  return { overview: overview.data, mine: mine?.data ?? [], goLive: goLive?.data, publicKey };
}

function render(data: Data, view: View): TemplateResult {
  const { overview, mine, goLive } = data;
  const { attention, volume, today, timeZone } = overview;
  const needed =
    attention.length === 0
      ? html`<p class="calm">✓ ${texts.calm}</p>`
      : html`<ul class="attention">
          ${attention.map((one) => html`<li>${attentionView(one, view)}</li>`)}
        </ul>`;
  return html`<div class="panels">
    ${section(texts.attention, needed)}
    ${mine.length > 0 ? section(texts.mine, mineView(mine, view)) : nothing} ${passkeyOffer(view)}
    ${goLive ? goLiveSection(goLive, view) : nothing}
    ${section(texts.volume, volume.length === 0 ? noVolume(data, view) : volumeView(volume, today, timeZone))}
  </div>`;
}

/** Answered in this window: the session does not know it until the next sign-in. */
let isPasskeyAnswered = false;

function passkeyOffer(view: View): TemplateResult | typeof nothing {
  const isOffered =
    view.session.passkeys === 0 &&
    view.can('passkeys.create') &&
    !isPasskeyAnswered &&
    isSecureContext &&
    'PublicKeyCredential' in globalThis;
  if (!isOffered) return nothing;
  const later = () => {
    isPasskeyAnswered = true;
    view.redraw();
  };
  return section(
    texts.passkey,
    html`<p>${texts.passkeyText}</p>
      <div class="actions">
        ${button(view, {
          text: texts.passkeyAdd,
          permission: 'passkeys.create',
          isGuarded: true,
          kind: 'main',
          async run() {
            const { add } = await import('./passkey-parts.js');
            if (await add(view)) later();
          },
        })}
        <button @click=${later}>${texts.passkeyLater}</button>
      </div>`,
  );
}

/** By the code of a problem that no page of the console explains. */
const operatorCommands: Partial<Record<Attention['code'], string>> = {
  books_differ: 'ledger check --chain',
  payments_stuck: 'chains status',
  rates_missing: 'rates show',
};

function attentionView({ code, count, list }: Attention, view: View): TemplateResult {
  const text = texts.attentionOf[code](count);
  const name = list
    ? pageOf[list.path]
    : code === 'books_differ' && view.sees('checks')
      ? 'checks'
      : undefined;
  if (!name) {
    const command = operatorCommands[code];
    return html`${text}
    ${
      command === undefined
        ? nothing
        : html`<small>${texts.operator}</small> ${copyable(onServer(command), view)}`
    }`;
  }
  return html`<a href=${view.link(name, undefined, list?.query)}>${text}</a>`;
}

const mineView = (mine: Mine, view: View) =>
  html`<ul class="attention">
    ${mine.map(
      ({ paymentId, txRef, assignedAt }) =>
        html`<li>
          <a href=${view.link('payment', paymentId)}>${txRef}</a>
          <small>${texts.since} ${time(assignedAt)}</small>
        </li>`,
    )}
  </ul>`;

const noVolume = ({ publicKey }: Data, view: View) =>
  html`<p>${texts.noVolume}</p>
    ${view.can('payments.create') ? teachTag(view, publicKey) : ''}`;

function volumeView(volume: readonly Volume[], today: string, timeZone: string): TemplateResult {
  const currencies = [...new Set(volume.map(({ currency }) => currency))];
  return html`<p><small>${texts.daysIn(timeZone)}</small></p>
    ${currencies.map((currency) => {
      const days = volume.filter((one) => one.currency === currency);
      const total = (rows: readonly Volume[]) => ({
        count: rows.reduce((sum, { payments }) => sum + payments, 0),
        sum: sumOfDecimals(rows.map((one) => one.amount)),
      });
      const now = total(days.filter(({ date }) => date === today));
      const month = total(days);
      const since = (daysAgo: number) =>
        new Date(Date.parse(today) - daysAgo * dayMs).toISOString().slice(0, 10);
      const week = total(days.filter(({ date }) => date > since(7)));
      const before = total(days.filter(({ date }) => date > since(14) && date <= since(7)));
      return html`<div class="volume">
        <dl>
          <div>
            <dt>${texts.today}</dt>
            <dd>${amount(now.sum, currency)} <small>${texts.payments(now.count)}</small></dd>
          </div>
          <div>
            <dt>${texts.week}</dt>
            <dd>
              ${amount(week.sum, currency)}
              <small>${texts.payments(week.count)}, ${texts.change(week.sum, before.sum)}</small>
            </dd>
          </div>
          <div>
            <dt>${texts.month}</dt>
            <dd>${amount(month.sum, currency)} <small>${texts.payments(month.count)}</small></dd>
          </div>
        </dl>
        ${chart(days, currency, today)}
      </div>`;
    })}`;
}

const dayMs = 86_400_000;

const dayOf = (date: string) =>
  new Date(date).toLocaleDateString(language, { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** Says the bar that the pointer or the focus is on. */
function say(event: Event): void {
  const bar = event.target;
  const caption = bar instanceof Element ? bar.closest('figure')?.querySelector('figcaption') : undefined;
  const text = bar instanceof SVGElement ? bar.dataset['label'] : undefined;
  if (caption && text !== undefined) caption.textContent = text;
}

function chart(days: readonly Volume[], currency: string, today: string): TemplateResult {
  const last = Date.parse(today);
  const bars = Array.from({ length: 31 }, (_none, index) => {
    const date = new Date(last - (30 - index) * dayMs).toISOString().slice(0, 10);
    const { amount: sum = 0, payments = 0 } = days.find((one) => one.date === date) ?? {};
    return { date, sum, payments };
  });
  const most = Math.max(...bars.map(({ sum }) => sum), Number.MIN_VALUE);
  const [first, middle] = [bars[0], bars[15]];
  return html`<figure @pointerover=${say} @focusin=${say}>
    <div class="scale"><span>${amount(most, currency)}</span></div>
    <svg
      class="chart"
      viewBox="0 0 310 64"
      preserveAspectRatio="none"
      role="group"
      aria-label=${texts.chart(currency)}
    >
      ${bars.map(({ date, sum, payments }, index) => {
        const height = sum === 0 ? 0 : Math.max(2, (sum / most) * 60);
        const label = texts.bar(dayOf(date), amount(sum, currency), payments);
        return sum === 0
          ? svg``
          : svg`<rect x=${index * 10 + 1} y=${64 - height} width="8" height=${height} rx="1"
              role="img" tabindex="0" aria-label=${label} data-label=${label}></rect>`;
      })}
    </svg>
    <div class="scale">
      <time>${dayOf(first?.date ?? today)}</time> <time>${dayOf(middle?.date ?? today)}</time>
      <span>${texts.today}</span>
    </div>
    <figcaption></figcaption>
  </figure>`;
}

export default page<Data>({
  title: () => texts.title,
  load,
  render,
  everyMs: 15_000,
  changes: 'home',
  announced: ({ overview }) => overview,
  counts: ({ overview }) => countsOf(overview.attention),
});
