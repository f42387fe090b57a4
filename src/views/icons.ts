/** Icons of coins and networks, drawn for this project. Unknown codes get their first letter. */
import { html, nothing, svg, type TemplateResult } from 'lit';

/** White on `colour`, in a 32 × 32 square: `line` is stroked, `solid` is filled. */
interface Glyph {
  readonly colour: string;
  readonly line?: string;
  readonly solid?: string;
  /** Degrees clockwise. */
  readonly tilt?: number;
}

const bitcoin = {
  colour: '#f7931a',
  line: 'M10.5 10h7a3 3 0 0 1 0 6H13h5.3a3 3 0 0 1 0 6h-7.8M13 10v12M14.2 7v3m3.4-3v3m-3.4 12v3m3.4-3v3',
  tilt: 12,
} satisfies Glyph;

const litecoin = { colour: '#345d9d', line: 'M16.8 7.5 12.6 24H22M10 19.2l9.5-4.4' } satisfies Glyph;

const ether = {
  colour: '#627eea',
  solid: 'M16 5 9 16.4l7 4.1 7-4.1zM9 18.4 16 28l7-9.6-7 4.1z',
} satisfies Glyph;

const bnb = {
  colour: '#e0a800',
  line: 'm10.8 13.2 5.2-5.2 5.2 5.2m-10.4 5.6 5.2 5.2 5.2-5.2',
  solid: 'm16 12.8 3.2 3.2-3.2 3.2-3.2-3.2zM8.3 13.6l2.4 2.4-2.4 2.4L5.9 16zm15.4 0 2.4 2.4-2.4 2.4-2.4-2.4z',
} satisfies Glyph;

const polygon = {
  colour: '#8247e5',
  line: 'm11.4 13.4 4.2 2.4v4.8l-4.2 2.4-4.2-2.4v-4.8zm9.2-4.4 4.2 2.4v4.8l-4.2 2.4-4.2-2.4v-4.8z',
} satisfies Glyph;

const tron = {
  colour: '#e50914',
  line: 'M7.5 9 15 25l9.5-10.6L21.4 11zm0 0 9.3 7L15 25m1.8-9 4.6-5m-4.6 5 7.7-1.6',
} satisfies Glyph;

const coins = new Map<string, Glyph>([
  ['BTC', bitcoin],
  ['LTC', litecoin],
  ['ETH', ether],
  ['BNB', bnb],
  ['POL', polygon],
  ['TRX', tron],
  [
    'USDT',
    {
      colour: '#1f9b76',
      line: 'M9.5 9.5h13M16 9.5V25m0-11.6c-4.4 0-7.8.9-7.8 2.2s3.4 2.2 7.8 2.2 7.8-.9 7.8-2.2-3.4-2.2-7.8-2.2z',
    },
  ],
  [
    'USDC',
    {
      colour: '#2775ca',
      line: 'M19.4 13c-.3-1.5-1.6-2.4-3.4-2.4s-3.4.9-3.4 2.5c0 3.9 7 1.9 7 5.8 0 1.6-1.6 2.5-3.6 2.5s-3.4-.9-3.7-2.5M16 8.4v2.2m0 10.8v2.2M12.2 6.7a10 10 0 0 0 0 18.6m7.6-18.6a10 10 0 0 1 0 18.6',
    },
  ],
]);

const networks = new Map<string, Glyph>([
  ['bitcoin', bitcoin],
  ['litecoin', litecoin],
  ['ethereum', ether],
  ['base', { colour: '#0052ff', solid: 'M6.6 14.6a9.5 9.5 0 1 1 0 2.8h12.6v-2.8z' }],
  ['bsc', bnb],
  ['polygon', polygon],
  ['tron', tron],
]);

/** A coin's icon: round, and decorative, since the name is next to it. */
export function coinIcon(code: string): TemplateResult {
  return icon(coins.get(code), code, 16);
}

/** A coin's icon with its network's at the corner, unless the coin is the network's own. */
export function assetIcon(coin: string, network: string): TemplateResult {
  const isOwn = coins.has(coin) && coins.get(coin) === networks.get(network);
  return html`<span class="asset">${coinIcon(coin)}${isOwn ? nothing : networkIcon(network)}</span>`;
}

/** A network's icon: a rounded square, to tell it apart from the coin of the same name. */
export function networkIcon(code: string): TemplateResult {
  return icon(networks.get(code), code, 8);
}

function icon(glyph: Glyph | undefined, code: string, radius: number): TemplateResult {
  return html`<svg class="icon" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true">
    <rect width="32" height="32" rx=${radius} fill=${glyph?.colour ?? '#667085'} />
    ${glyph ? drawing(glyph) : letter(code)}
  </svg>`;
}

function drawing({ line = '', solid = '', tilt = 0 }: Glyph): TemplateResult {
  return svg`<g transform="rotate(${tilt} 16 16)">
    <path d=${line} fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" />
    <path d=${solid} fill="#fff" />
  </g>`;
}

function letter(code: string): TemplateResult {
  const [first = '?'] = code.toUpperCase();
  return svg`<text x="16" y="21.5" text-anchor="middle" font-size="16" font-weight="600" fill="#fff">${first}</text>`;
}
