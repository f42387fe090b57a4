/** Icons of coins and networks, drawn for this project. Unknown codes get their first letter. */
import { html, nothing, type TemplateResult } from 'lit';
import { coins, type Glyph } from '../coins/icons.js';

const networks: Readonly<Record<string, Glyph | undefined>> = {
  bitcoin: coins['BTC'],
  litecoin: coins['LTC'],
  ethereum: coins['ETH'],
  base: { colour: '#0052ff', solid: 'M6.6 14.6a9.5 9.5 0 1 1 0 2.8h12.6v-2.8z' },
  bsc: coins['BNB'],
  polygon: coins['POL'],
  tron: coins['TRX'],
};

/** A coin's icon: round, and decorative, since the name is next to it. */
export function coinIcon(code: string): TemplateResult {
  return icon(coins[code], code, 16);
}

/** A coin's icon with its network's at the corner, unless the coin is the network's own. */
export function assetIcon(coin: string, network: string): TemplateResult {
  const isOwn = coin in coins && coins[coin] === networks[network];
  return html`<span class="asset">${coinIcon(coin)}${isOwn ? nothing : networkIcon(network)}</span>`;
}

/** A network's icon: a rounded square, to tell it apart from the coin of the same name. */
export function networkIcon(code: string): TemplateResult {
  return icon(networks[code], code, 8);
}

/** One template draws every icon, since each additional template takes a slow phone some milliseconds to parse. */
function icon(glyph: Glyph | undefined, code: string, radius: number): TemplateResult {
  const { colour = '#667085', line = '', solid = '', tilt = 0 } = glyph ?? {};
  const [first = '?'] = glyph ? ' ' : code.toUpperCase();
  return html`<svg class="icon" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true">
    <rect width="32" height="32" rx=${radius} fill=${colour} />
    <g transform="rotate(${tilt} 16 16)">
      <path
        d=${line}
        fill="none"
        stroke="#fff"
        stroke-width="2"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
      <path d=${solid} fill="#fff" />
    </g>
    <text x="16" y="21.5" text-anchor="middle" font-size="16" font-weight="600" fill="#fff">${first}</text>
  </svg>`;
}
