/** The list of the console's keys. Loaded when it is first opened. */
import { html } from 'lit';
import { texts } from './messages/keyboard.js';
import type { Dialog } from './ui/dialog.js';

export const keyboardDialog: Dialog = {
  title: texts.title,
  text: html`<dl class="keys">
    ${texts.of.map(
      ([key, what]) =>
        html`<div>
          <dt><kbd>${key}</kbd></dt>
          <dd>${what}</dd>
        </div>`,
    )}
  </dl>`,
};
