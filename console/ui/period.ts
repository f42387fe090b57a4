/** The fields of a list's period, for its filter bar. */
import { html, nothing, type TemplateResult } from 'lit';
import { common } from '../messages/common.js';
import type { View } from '../page.js';
import { chosenPeriod, dayIn, daysOf, presets, type Preset } from '../period.js';
import { dayOf, describeZone } from '../zone.js';

/** @param fallback for lists that have a period in any case */
export function periodFields(view: View, fallback?: Preset): TemplateResult {
  const chosen = chosenPeriod(view) ?? fallback;
  const change = (event: Event) => {
    const days = (event.currentTarget as HTMLSelectElement).value;
    // Own days begin with those that were seen last.
    const known = chosen === undefined || chosen === 'custom' ? undefined : daysOf(chosen, dayOf(view.now()));
    const own = days === 'custom' ? { from: known?.first, to: known?.last } : { from: '', to: '' };
    view.filter({ days, ...own, q: undefined, cursor: undefined, month: undefined });
  };
  const pick = (name: 'from' | 'to') => (event: Event) => {
    const { value } = event.currentTarget as HTMLInputElement;
    view.filter({ days: 'custom', [name]: value, q: undefined, cursor: undefined });
  };
  const day = (name: 'from' | 'to', label: string) =>
    html`<label class="field"
      ><span>${label}</span>
      <input name=${name} type="date" .value=${dayIn(view.query.get(name))} @change=${pick(name)} />
    </label>`;
  return html`<label class="field">
      <span>${common.period}</span>
      <select
        name="days"
        .value=${chosen ?? ''}
        title=${common.daysIn(describeZone(view.now()))}
        @change=${change}
      >
        ${fallback ? nothing : html`<option value="" ?selected=${chosen === undefined}>${common.anyTime}</option>`}
        ${([...presets, 'custom'] as const).map(
          (one) => html`<option value=${one} ?selected=${one === chosen}>${common.periods[one]}</option>`,
        )}
      </select>
    </label>
    ${chosen === 'custom' ? html`${day('from', common.from)} ${day('to', common.until)}` : nothing}`;
}
