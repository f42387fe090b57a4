/** Draws a QR code as SVG. Loaded when a coin has been chosen. */
import { html, type TemplateResult } from 'lit';
// Also keeps the bundler's helpers for CommonJS, which `qrcode` needs, in the flow's chunk. A separate chunk would be
// one more request before the QR code.
import { paymentUri, type PaymentRequest } from '../money/payment-uri.js';
import core from 'qrcode/lib/core/qrcode.js';

/** The light margin that scanners need, in modules: four by ISO/IEC 18004. */
const quietZone = 4;

/**
 * Draws what wallets scan to pay, or the address of a page.
 * @param label text alternative for screen readers
 */
export function drawQr(what: PaymentRequest | string, label: string, part = 'qr'): TemplateResult {
  // As bytes: addresses have small letters, which the denser modes do not.
  const data = typeof what === 'string' ? what : paymentUri(what).text;
  const { modules } = core.create([{ data, mode: 'byte' }], { errorCorrectionLevel: 'M' });
  const side = modules.size + 2 * quietZone;
  return html`<svg
    part=${part}
    class="qr"
    role="img"
    aria-label=${label}
    viewBox="0 0 ${side} ${side}"
    shape-rendering="crispEdges"
  >
    <path fill="#fff" d="M0 0h${side}v${side}H0z" />
    <path fill="#000" d=${darkPath(modules.size, (x, y) => Boolean(modules.get(y, x)))} />
  </svg>`;
}

/** One SVG path: each run of dark modules in a row is a bar of height 1. */
function darkPath(size: number, isDark: (x: number, y: number) => boolean): string {
  let path = '';
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      const start = x;
      while (x < size && isDark(x, y)) x += 1;
      if (x > start) path += `M${start + quietZone} ${y + quietZone}h${x - start}v1H${start + quietZone}z`;
    }
  }
  return path;
}
