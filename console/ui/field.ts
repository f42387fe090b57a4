/** One field of a form, with its label. */
import { html, nothing, type TemplateResult } from 'lit';

type Option = readonly [value: string, label: string, group?: string];

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'url' | 'date' | 'number' | 'password';
  readonly value?: string;
  readonly isRequired?: boolean;
  /** The expected input, or its effect. */
  readonly hint?: string;
  /** A list to choose from. Those of a group are next to each other, below its name. */
  readonly options?: readonly Option[];
  /** The list is rows that are all seen, each with a mark to choose it. */
  readonly isInRows?: boolean;
  readonly isLong?: boolean;
  /**
   * Name of the expected input, for a field where somebody may paste a private key or the words of a wallet instead:
   * those are not sent.
   */
  readonly asks?: 'key' | 'hash';
}

export function field(one: Field): TemplateResult {
  const hintId = one.hint ? `${one.name}-hint` : nothing;
  if (one.isInRows) return rows(one, hintId);
  return html`<label class="field">
    <span>${one.label}</span>
    ${control(one, hintId)} ${one.hint ? html`<small id=${hintId}>${one.hint}</small>` : nothing}
  </label>`;
}

function rows({ name, label, value, options = [], hint }: Field, hintId: string | typeof nothing) {
  return html`<fieldset class="field rows" aria-describedby=${hintId}>
    <legend>${label}</legend>
    ${options.map(
      ([one, text]) =>
        html`<label>
          <input type="radio" name=${name} .value=${one} ?checked=${one === value} required />
          <span>${text}</span>
        </label>`,
    )}
    ${hint ? html`<small id=${hintId}>${hint}</small>` : nothing}
  </fieldset>`;
}

function groupsOf(options: readonly Option[]): (readonly [group: string | undefined, rows: Option[]])[] {
  const groups = new Map<string | undefined, Option[]>();
  for (const one of options) groups.set(one[2], [...(groups.get(one[2]) ?? []), one]);
  return [...groups];
}

function control(
  { name, type = 'text', value = '', isRequired = false, options, isLong }: Field,
  hintId: string | typeof nothing,
): TemplateResult {
  if (options) {
    return html`<select name=${name} aria-describedby=${hintId} ?required=${isRequired}>
      ${groupsOf(options).map(([group, rows]) => {
        const inner = rows.map(
          ([one, label]) => html`<option value=${one} ?selected=${one === value}>${label}</option>`,
        );
        return group === undefined ? inner : html`<optgroup label=${group}>${inner}</optgroup>`;
      })}
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
