/** Dialogs: a question with fields, and a button that names its action. */
import { html, nothing, type TemplateResult } from 'lit';
import { common } from '../messages/common.js';
import { field, type Field } from './field.js';
import { refuseSecret } from './refuse-secret.js';

export interface Dialog {
  readonly title: string;
  /** The effect, with the amount and the address in it. */
  readonly text?: TemplateResult | string | undefined;
  readonly fields?: readonly Field[];
  /** The button's action; without it, the dialog can only be closed. */
  readonly action?: string;
  /** Red: it cannot be undone. */
  readonly isFinal?: boolean;
}

function holdsSecret(form: HTMLFormElement, { name, asks }: Field): boolean {
  const input = form.elements.namedItem(name);
  return asks !== undefined && input instanceof HTMLInputElement && refuseSecret(input, asks);
}

/** @param answer gets the fields' values, or undefined if the dialog was closed */
export function dialogView(
  { title, text, fields = [], action, isFinal }: Dialog,
  answer: (values: Readonly<Record<string, string>> | undefined) => void,
): TemplateResult {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    if (fields.some((one) => holdsSecret(form, one))) return;
    const entries = [...new FormData(form)];
    end(
      form,
      Object.fromEntries(
        entries.map(([name, value]) => [name, typeof value === 'string' ? value.trim() : '']),
      ),
    );
  };
  // Closed, it gives the focus back to what opened it. Only removed, it would not.
  const end = (inside: Element, values?: Readonly<Record<string, string>>) => {
    answer(values);
    inside.closest('dialog')?.close();
  };
  // It comes later: another question may be open in it by then.
  const closed = ({ currentTarget }: Event) => {
    if (currentTarget instanceof HTMLDialogElement && !currentTarget.open) answer(undefined);
  };
  return html`<dialog aria-labelledby="dialog-title" @close=${closed}>
    <form method="dialog" @submit=${submit}>
      <h2 id="dialog-title">${title}</h2>
      ${typeof text === 'string' ? html`<p>${text}</p>` : text} ${fields.map(field)}
      <div class="actions">
        <button
          type="button"
          @click=${(event: Event) => event.currentTarget instanceof Element && end(event.currentTarget)}
        >
          ${common.close}
        </button>
        ${action ? html`<button class=${isFinal ? 'danger' : 'main'}>${action}</button>` : nothing}
      </div>
    </form>
  </dialog>`;
}
