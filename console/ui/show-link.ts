/** Shows a link to send on: as text to copy, and as a QR code. */
import { html } from 'lit';
import { drawQr } from '../../src/views/qr-code.js';
import type { View } from '../page.js';
import { copyable } from './copy.js';

export async function showLink(view: View, title: string, url: string, text = ''): Promise<void> {
  await view.ask({
    title,
    text: html`${text ? html`<p>${text}</p>` : ''}
      <p>${copyable(url, view)}</p>
      ${drawQr(url, title)}`,
  });
}
