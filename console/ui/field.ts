/** One field of a form, with its label. */
import { html, nothing, type TemplateResult } from 'lit';

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'url' | 'date' | 'number' | 'password';
  readonly value?: string;
  readonly isRequired?: boolean;
  /** The expected input, or its effect. */
  readonly hint?: string;
  /** A list to choose from: value and label. */
  readonly options?: readonly (readonly [value: string, label: string])[];
  readonly isLong?: boolean;
  /**
   * Name of the expected input, for a field where somebody may paste a private key or the words of a wallet instead:
   * those are not sent.
   */
  readonly asks?: 'key' | 'hash';
}

export function field(one: Field): TemplateResult {
  const hintId = one.hint ? `${one.name}-hint` : nothing;
  return html`<label class="field">
    <span>${one.label}</span>
    ${control(one, hintId)} ${one.hint ? html`<small id=${hintId}>${one.hint}</small>` : nothing}
  </label>`;
}

function control(
  { name, type = 'text', value = '', isRequired = false, options, isLong }: Field,
  hintId: string | typeof nothing,
): TemplateResult {
  if (options) {
    return html`<select name=${name} aria-describedby=${hintId} ?required=${isRequired}>
      ${options.map(([one, label]) => html`<option value=${one} ?selected=${one === value}>${label}</option>`)}
    </select>`;
  }
  if (isLong) {
    return html`<textarea
      name=${name}
      rows="4"
      aria-describedby=${hintId}
      ?required=${isRequired}
      .value=${value}
    ></textarea>`;
  }
  return html`<input
    name=${name}
    type=${type}
    step=${type === 'number' ? 'any' : nothing}
    autocomplete="off"
    aria-describedby=${hintId}
    ?required=${isRequired}
    .value=${value}
  />`;
}
