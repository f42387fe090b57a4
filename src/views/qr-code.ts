/** A QR code as one SVG path. Loaded when there is something to scan. */
import { html, type TemplateResult } from 'lit';
import { encodeQr, type QrModules } from './qr-encoder.js';

/** Light modules around the code that scanners need: ISO/IEC 18004 asks for four. */
const quietZone = 4;

/** @param label the text alternative */
export function drawQr(text: string, label: string): TemplateResult {
  const modules = encodeQr(text);
  const side = modules.size + 2 * quietZone;
  return html`<svg
    part="qr"
    class="qr"
    role="img"
    aria-label=${label}
    viewBox="0 0 ${side} ${side}"
    shape-rendering="crispEdges"
  >
    <path fill="#fff" d="M0 0h${side}v${side}H0z" />
    <path fill="#000" d=${outline(modules)} />
  </svg>`;
}

/** Each row's runs of dark modules as bars of height 1. */
function outline({ size, isDark }: QrModules): string {
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
