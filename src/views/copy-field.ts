/** Text that the browser did not copy, to copy by hand. Text inside a button cannot be selected, in any browser. */
import { html, type TemplateResult } from 'lit';
import type { ViewContext } from './view.js';

/**
 * @param copied called when the payer has copied all of it from the field
 * @param close removes the field
 */
export function copyField(
  value: string,
  label: string,
  { text }: Pick<ViewContext, 'text'>,
  copied: () => void,
  close: () => void,
): TemplateResult {
  const onCopy = ({ currentTarget }: Event) => {
    if (!(currentTarget instanceof HTMLTextAreaElement)) return;
    const { selectionStart, selectionEnd } = currentTarget;
    // The browser reads the field after this event.
    if (selectionEnd - selectionStart === value.length) setTimeout(copied);
  };
  return html`<div class="by-hand">
    <label for="by-hand">${label}</label>
    <textarea
      id="by-hand"
      part="copy-field"
      class="search"
      dir="ltr"
      readonly
      rows=${value.includes('\n') ? 5 : 2}
      .value=${value}
      @copy=${onCopy}
    ></textarea>
    <button part="close-copy-field" class="quiet-button" type="button" @click=${close}>
      ${text('close')}
    </button>
  </div>`;
}
