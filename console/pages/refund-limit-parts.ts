/** The limits of refunds among the settings, and the form that sets one: what changes is shown before it is set. */
import { html, nothing, type TemplateResult } from 'lit';
import { settingsApi } from '../../src/contract/console-settings.js';
import { currencies } from '../../src/contract/currencies.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { amount } from '../format.js';
import { texts } from '../messages/refund-limits.js';
import type { View } from '../page.js';
import { button } from '../ui/button.js';
import { details, section } from '../ui/details.js';

type Shop = ParsedData<typeof settingsApi.shop.retrieve>;
type Limit = 'dailyRefunds' | 'autoRefund';
type Limits = Readonly<Record<string, string>>;

const { refundLimits } = settingsApi;

/** `500 USD, 200 USDT`; empty if there are none. */
export const listed = (limits: Limits) =>
  Object.entries(limits)
    .map(([currency, limit]) => amount(limit, currency))
    .join(', ');

export function refundLimitSection(shop: Shop, view: View): TemplateResult {
  const act = (limit: Limit) =>
    button(view, {
      text: texts.buttons[limit],
      permission: 'refundLimits.update',
      isGuarded: true,
      run: () => change(limit, shop, view),
    });
  return section(
    texts.title,
    html`${details([
      [texts.daily, listed(shop.dailyRefunds) || texts.noLimit],
      [texts.auto, listed(shop.autoRefund) || texts.allApproved],
    ])}${view.can('refundLimits.update') ? nothing : html`<p class="hint">${texts.byOwners}</p>`}`,
    html`${act('dailyRefunds')} ${act('autoRefund')}`,
  );
}

async function change(limit: Limit, shop: Shop, view: View): Promise<void> {
  const known = await view.act(() => view.api(currencies.list, {}, view.signal));
  if (!known) return;
  const limits = shop[limit];
  const shown = known.data.filter(({ code, isActive }) => isActive || code in limits);
  // Money first, which holds for all coins; and those that have a limit before others.
  const rank = ({ code, type }: (typeof shown)[number]) =>
    (type === 'fiat' ? 0 : 3) + (code in limits ? 0 : code === 'USD' ? 1 : 2);
  const sorted = [...shown].sort((a, b) => rank(a) - rank(b));
  const first = sorted.find(({ code }) => code in limits) ?? sorted[0];
  const values = await view.ask({
    title: texts.titles[limit],
    text: texts.texts[limit],
    fields: [
      {
        name: 'currency',
        label: texts.currency,
        value: first?.code ?? '',
        hint: texts.currencyHint,
        options: sorted.map(({ code, type }) => [
          ...([
            code,
            limits[code] === undefined ? code : texts.option(code, amount(limits[code], code)),
          ] as const),
          type === 'fiat' ? texts.allCoins : texts.oneCoin,
        ]),
      },
      {
        name: 'amount',
        label: texts.amount,
        type: 'number',
        ...(limit === 'dailyRefunds'
          ? { isRequired: true, hint: texts.onlyLower }
          : { hint: texts.emptyRemoves }),
      },
    ],
    action: texts.next,
  });
  if (!values) return;
  const { currency = '', amount: given = '' } = values;
  const next = given === '' ? null : given;
  const before = limits[currency] ?? null;
  if (next === before) return view.say(texts.same);
  const shownAs = (one: string | null) => (one === null ? texts.none[limit] : amount(one, currency));
  const confirmed = await view.ask({
    title: texts.previewTitles[limit],
    text: html`${details([
        [texts.now, shownAs(before)],
        [texts.then, shownAs(next)],
      ])}
      <p>${effectOf(limit, next, currency, shop)}</p>`,
    action: next === null ? texts.remove : texts.set,
  });
  if (!confirmed) return;
  const set = (to: string | null) => view.api(refundLimits.update, { body: { limit, currency, amount: to } });
  await view.act(() => set(next), texts.saved, limit === 'autoRefund' ? () => set(before) : undefined);
}

function effectOf(limit: Limit, next: string | null, currency: string, { dailyRefunds }: Shop): string {
  if (next === null) return texts.effects.removed(currency);
  const sum = amount(next, currency);
  if (limit === 'dailyRefunds') return texts.effects.daily(sum);
  return texts.effects.auto(sum, listed(dailyRefunds));
}
