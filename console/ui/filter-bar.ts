/** The filters of a list. They are kept in the address. */
import { html, nothing, type TemplateResult } from 'lit';
import { common } from '../messages/common.js';
import type { View } from '../page.js';
import { refuseSecret } from './refuse-secret.js';

export interface FilterField {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text';
  /** The value when the address has none. */
  readonly value?: string;
  readonly options?: readonly (readonly [value: string, label: string])[] | undefined;
  /** The label for choosing none of them. */
  readonly none?: string;
}

/** @param period the fields of `period.ts`, for lists that have dates */
export function filterBar(
  view: View,
  fields: readonly FilterField[],
  period: TemplateResult | typeof nothing = nothing,
): TemplateResult {
  const change = (name: string) => (event: Event) => {
    const control = event.currentTarget as HTMLInputElement | HTMLSelectElement;
    if (control instanceof HTMLInputElement && refuseSecret(control, 'hash')) return;
    // The results, and the position in them, belong to the previous filters.
    view.filter({ [name]: control.value, q: undefined, cursor: undefined });
  };
  return html`<form class="filters" @submit=${(event: Event) => event.preventDefault()}>
    ${fields.map(({ name, label, type = 'text', options, none = common.all, ...field }) => {
      const value = view.query.get(name) ?? field.value ?? '';
      return html`<label class="field"
        ><span>${label}</span>
        ${
          options
            ? html`<select name=${name} .value=${value} @change=${change(name)}>
                <option value="" ?selected=${value === ''}>${none}</option>
                ${options.map(
                  ([one, text]) => html`<option value=${one} ?selected=${one === value}>${text}</option>`,
                )}
              </select>`
            : html`<input name=${name} type=${type} .value=${value} @change=${change(name)} />`
        }
      </label>`;
    })}
    ${period}
  </form>`;
}
