/** Shows a link to send on: as text to copy, and as a QR code. */
import { html } from 'lit';
import type { View } from '../page.js';
import { copyable } from './copy.js';

export async function showLink(view: View, title: string, url: string, text = ''): Promise<void> {
  // It is as large as a page, and most pages are read without it.
  const { drawQr } = await import('../../src/views/qr-code.js');
  await view.ask({
    title,
    text: html`${text ? html`<p>${text}</p>` : ''}
      <p>${copyable(url, view)}</p>
      ${drawQr(url, title)}`,
  });
}
