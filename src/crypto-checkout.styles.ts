/** The styles of the card and its button. `--checkout-…` properties are public; `--_…` ones hold the values in use. */
import { css } from 'lit';

const dark = css`
  --_accent: var(--checkout-accent, #7aa5ff);
  --_background: var(--checkout-background, #14171d);
  --_test: #3b2c07;
  --_on-test: #ffe3a8;
  --_scheme: dark;
`;

/*
 * From the background, text gets the luminance that has a contrast of 15 with it, secondary text 5.6, or the highest
 * possible: black or white. One of the two always has 4.5. Panels are a shade nearer to the text, or, where text has no
 * contrast to spare, a shade farther from it. \`y\` is the luminance of the colour that a value is derived from, so
 * these hold for any colour.
 */
const derived = css`
  --_light: clamp(0, (y - 0.179) * 100000, 1);
  --_bright: clamp(0, (y - 0.5) * 100000, 1);
  --_dim: clamp(0, (0.05 - y) * 100000, 1);
  --_y-text: clamp(
    0,
    var(--_light) * ((y + 0.05) / 15 - 0.05) + (1 - var(--_light)) * ((y + 0.05) * 14 - 0.05),
    1
  );
  --_y-muted: clamp(
    0,
    var(--_light) * ((y + 0.05) / 5.6 - 0.05) + (1 - var(--_light)) * ((y + 0.05) * 5.6 - 0.05),
    1
  );
  --_k: (0.94 + 0.16 * (1 - var(--_bright)) - 0.22 * (1 - var(--_light)) + 0.12 * var(--_dim));
  --_a: 0.01 * var(--_dim);
  --_text: var(
    --checkout-text,
    color(
      from var(--_background) xyz-d65 calc(0.945 * var(--_y-text)) var(--_y-text) calc(1.12 * var(--_y-text))
    )
  );
  --_muted: var(
    --checkout-muted,
    color(
      from var(--_background) xyz-d65 calc(0.945 * var(--_y-muted)) var(--_y-muted)
        calc(1.12 * var(--_y-muted))
    )
  );
  --_surface: var(
    --checkout-surface,
    color(
      from var(--_background) xyz-d65 calc(x * var(--_k) + 0.95 * var(--_a)) calc(y * var(--_k) + var(--_a))
        calc(z * var(--_k) + 1.09 * var(--_a))
    )
  );
  --_border: var(--checkout-border, color-mix(in oklab, var(--_background), var(--_text) 17%));
  --_caution: color-mix(in oklab, #d98600 70%, var(--_text));
  --_on-accent: var(
    --checkout-on-accent,
    color(
      from var(--_accent) xyz-d65 calc(0.9505 * (1 - var(--_light))) calc(1 - var(--_light))
        calc(1.089 * (1 - var(--_light)))
    )
  );
  --_hover: color-mix(
    in srgb,
    var(--_accent),
    color(from var(--_accent) xyz-d65 calc(0.9505 * var(--_light)) var(--_light) calc(1.089 * var(--_light)))
      14%
  );
`;

// Comments inside would be sent to every page. The first colours are for browsers without relative ones. `--_rem` is the payer's
// text size, but not that of a page that makes 1rem 10 pixels. Inherited styles of the page cross the shadow boundary, and its
// rules for all elements beat those for :host: the card begins again, with `all`, which knows every property. A container's content
// does not count for its width, so the first column of the host does, in a parent that is as wide as its content. It can shrink.
export const styles = css`
  :host {
    --_accent: var(--checkout-accent, #1d4fd8);
    --_background: var(--checkout-background, #fff);
    --_on-accent: var(--checkout-on-accent, #fff);
    --_hover: var(--_accent);
    --_surface: var(--checkout-surface, var(--_background));
    --_text: var(--checkout-text, #17191f);
    --_muted: var(--checkout-muted, var(--_text));
    --_border: var(--checkout-border, currentColor);
    --_test: #fff1cf;
    --_on-test: #5a3c00;
    --_caution: #b36b00;
    --_radius: var(--checkout-radius, 16px);
    --_inner: calc(var(--_radius) * 0.625);
    --_space: var(--checkout-space, 8px);
    --_scheme: light;
    display: grid;
    grid-template-columns: minmax(0, 448px) 1fr;
    inline-size: 100%;
    max-inline-size: 920px;
    --_rem: max(16px, 1rem);
  }
  @media (prefers-color-scheme: dark) {
    :host(:not([theme='light'])) {
      ${dark}
    }
  }
  :host([theme='dark']) {
    ${dark}
  }
  :host([mode='modal']) {
    display: inline-block;
    inline-size: auto;
  }
  :host(:disabled) {
    opacity: 0.6;
  }
  @supports (color: color(from red xyz-d65 x y z)) {
    :host {
      ${derived}
    }
  }
  :host([hidden]) {
    display: none;
  }
  .box {
    grid-column: 1 / -1;
    inline-size: 100%;
    white-space: normal;
    container-type: inline-size;
  }
  :where(.card, .bar, .trigger) {
    all: initial;
    visibility: inherit;
    color-scheme: var(--_scheme);
    -webkit-text-size-adjust: 100%;
    font: var(--_rem) / 1.5 var(--checkout-font, system-ui, sans-serif);
    color: var(--_text);
  }
  * {
    box-sizing: border-box;
    margin: 0;
  }
  button,
  .second {
    font: inherit;
    color: inherit;
    min-height: 48px;
    border: 1px solid var(--_border);
    border-radius: var(--_inner);
    background: var(--_background);
    cursor: pointer;
  }
  :focus-visible {
    outline: 3px solid var(--_text);
    outline-offset: 2px;
  }
  .card {
    position: relative;
    display: grid;
    background: var(--_background);
    border: 1px solid var(--_border);
    border-radius: var(--_radius);
    box-shadow:
      0 1px 2px #1018280d,
      0 12px 32px -12px #10182826;
    overflow-wrap: anywhere;
  }
  .test {
    padding: 7px 16px;
    border-radius: calc(var(--_radius) - 1px) calc(var(--_radius) - 1px) 0 0;
    background: var(--_test);
    color: var(--_on-test);
    font-size: calc(var(--_rem) * 0.8125);
    font-weight: 600;
    text-align: center;
  }
  .order,
  .pay {
    padding: calc(var(--_space) * 2.5);
    min-width: 0;
  }
  .order {
    padding-block: calc(var(--_space) * 2);
    border-bottom: 1px solid var(--_border);
  }
  .pay,
  .body {
    display: grid;
    align-content: start;
    gap: calc(var(--_space) * 2);
    min-width: 0;
  }
  .header,
  .title,
  .time {
    display: flex;
    align-items: center;
    gap: calc(var(--_space) * 1.5);
  }
  .header {
    flex-wrap: wrap;
  }
  .header .who,
  .header .total {
    display: grid;
    line-height: 1.35;
  }
  .header .who {
    flex: 1 1 calc(var(--_rem) * 8);
  }
  .header .total {
    margin-inline-start: auto;
    text-align: end;
  }
  .total b {
    overflow-wrap: normal;
    font-size: calc(var(--_rem) * 1.0625);
    font-variant-numeric: tabular-nums;
  }
  .logo {
    display: grid;
    place-content: center;
    flex: none;
    inline-size: calc(var(--_rem) * 2.5);
    block-size: calc(var(--_rem) * 2.5);
    border-radius: calc(var(--_radius) * 0.5);
    background: var(--_accent);
    color: var(--_on-accent);
    font-weight: 700;
    object-fit: cover;
    forced-color-adjust: none;
  }
  img.logo {
    background: none;
  }
  .items {
    display: none;
    flex-basis: 100%;
    gap: 6px;
    padding: 12px 0 0;
    overflow-wrap: break-word;
    list-style: none;
  }
  .items li {
    display: flex;
    justify-content: space-between;
    gap: 16px;
    font-size: calc(var(--_rem) * 0.9375);
  }
  :host([status='idle']) .items,
  :host([status='creating']) .items {
    display: grid;
  }
  h2 {
    font-size: calc(var(--_rem) * 1.375);
    font-weight: 650;
    line-height: 1.25;
    text-wrap: balance;
  }
  .status {
    margin-top: calc(var(--_space) * -1.25);
    color: var(--_muted);
  }
  .quiet,
  small {
    font-size: calc(var(--_rem) * 0.875);
    color: var(--_muted);
  }
  .error {
    padding: 10px 14px;
    border-inline-start: 3px solid var(--_tint, var(--_caution));
    border-radius: var(--_inner);
    background: var(--_surface);
    font-size: calc(var(--_rem) * 0.9375);
  }
  .error small {
    display: block;
  }
  .action {
    min-height: 52px;
    padding: 8px 16px;
    border-color: color-mix(in srgb, var(--_accent), var(--_text) 20%);
    background: var(--_accent);
    color: var(--_on-accent);
    font-size: calc(var(--_rem) * 1.0625);
    font-weight: 600;
  }
  .action:hover {
    background: var(--_hover);
  }
  .loading,
  [aria-disabled='true'] {
    cursor: progress;
    opacity: 0.8;
    animation: breathe 0.9s infinite alternate;
  }
  @keyframes breathe {
    to {
      opacity: 0.72;
    }
  }
  @container (min-width: 720px) {
    .card {
      grid-template-columns: minmax(0, 5fr) minmax(0, 7fr);
    }
    .test {
      grid-column: 1 / -1;
    }
    .order {
      padding: calc(var(--_space) * 4);
      border: 0;
      border-inline-end: 1px solid var(--_border);
      border-end-start-radius: calc(var(--_radius) - 1px);
      border-start-start-radius: calc(var(--_radius) - 1px);
      background: var(--_surface);
    }
    .test ~ .order {
      border-start-start-radius: 0;
    }
    .pay {
      padding: calc(var(--_space) * 4);
    }
    .header .total {
      flex: 1 0 100%;
      margin-top: calc(var(--_space) * 2);
      text-align: start;
    }
    .total b {
      font-size: clamp(var(--_rem) * 1.25, 3cqi, var(--_rem) * 2);
      font-weight: 650;
      line-height: 1.2;
    }
    .items {
      display: grid;
      margin-top: calc(var(--_space) * 2);
      padding-top: calc(var(--_space) * 2);
      border-top: 1px solid var(--_border);
    }
  }
  @media (prefers-reduced-motion: reduce) {
    * {
      animation: none !important;
    }
  }
`;
