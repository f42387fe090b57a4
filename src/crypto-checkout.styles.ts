/** The checkout's styles. `--checkout-…` properties are public; `--_…` ones hold the values in use. */
import { css } from 'lit';

const dark = css`
  --_accent: var(--checkout-accent, #8fb4ff);
  --_on-accent: var(--checkout-on-accent, #0a1733);
  --_background: var(--checkout-background, #14171d);
  --_surface: var(--checkout-surface, #1d222b);
  --_text: var(--checkout-text, #f1f4f9);
  --_muted: var(--checkout-muted, #a5afbf);
  --_border: var(--checkout-border, #363e4b);
  --_good: #5fd49a;
  --_bad: #ff9a8f;
  --_caution: #f3c26b;
  color-scheme: dark;
`;

export const styles = css`
  :host {
    --_accent: var(--checkout-accent, #1d4fd8);
    --_on-accent: var(--checkout-on-accent, #fff);
    --_background: var(--checkout-background, #fff);
    --_surface: var(--checkout-surface, #f4f6fa);
    --_text: var(--checkout-text, #131a26);
    --_muted: var(--checkout-muted, #586375);
    --_border: var(--checkout-border, #d5dbe5);
    --_good: #0b7a4b;
    --_bad: #b42318;
    --_caution: #8a5300;
    --_radius: var(--checkout-radius, 16px);
    --_inner: calc(var(--_radius) * 0.625);
    --_space: var(--checkout-space, 8px);
    color-scheme: light;
    display: block;
    max-width: 480px;
    font: 16px / 1.45 var(--checkout-font, system-ui, sans-serif);
    color: var(--_text);
    text-align: start;
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
    container-type: normal;
  }
  :host(:disabled) {
    opacity: 0.6;
  }
  :host([hidden]) {
    display: none;
  }
  * {
    box-sizing: border-box;
    margin: 0;
  }
  button,
  input,
  .second {
    font: inherit;
    color: inherit;
    min-height: 44px;
    border: 1px solid var(--_border);
    border-radius: var(--_inner);
    background: var(--_surface);
  }
  button,
  summary,
  label {
    cursor: pointer;
    touch-action: manipulation;
  }
  :focus-visible {
    outline: 3px solid var(--_accent);
    outline-offset: 2px;
  }

  .card {
    display: grid;
    gap: calc(var(--_space) * 2);
    padding: calc(var(--_space) * 3);
    background: var(--_background);
    border: 1px solid var(--_border);
    border-radius: var(--_radius);
    box-shadow: 0 8px 24px -8px #1018281f;
    overflow-wrap: anywhere;
  }
  /* Live regions must stay in the DOM to be announced, so empty ones must take no space. */
  .card > p:empty {
    position: absolute;
  }
  .header,
  .title,
  .icon-line,
  .time,
  .address-line {
    display: flex;
    align-items: center;
    gap: var(--_space);
  }
  .header > div {
    display: grid;
    flex: 1;
  }
  .header .total {
    flex: none;
    text-align: end;
  }
  h2 {
    font-size: 1.375rem;
    line-height: 1.25;
  }
  .status,
  .base {
    margin-top: calc(var(--_space) * -1.25);
    color: var(--_muted);
  }
  .quiet,
  small,
  figcaption,
  time,
  .target .icon-line {
    font-size: 0.875rem;
    color: var(--_muted);
  }
  .badge {
    width: 40px;
    padding: 6px;
    border-radius: 50%;
    background: var(--_tint, var(--_accent));
    stroke: var(--_background);
  }
  .badge,
  .mark {
    fill: none;
    stroke-width: 2;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  .success {
    --_tint: var(--_good);
  }
  .failure,
  .error,
  .urgent {
    --_tint: var(--_bad);
  }
  .warning,
  .card > .error {
    padding: 10px 12px;
    border-inline-start: 3px solid var(--_tint, var(--_caution));
    background: var(--_surface);
  }
  .error small {
    display: block;
  }

  .action {
    min-height: 48px;
    border-color: transparent;
    background: var(--_accent);
    color: var(--_on-accent);
    font-weight: 600;
    transition: filter 0.15s;
  }
  .action:hover {
    filter: brightness(1.08);
  }
  .loading,
  [aria-disabled='true'] {
    cursor: progress;
    animation: breathe 1s infinite alternate;
  }
  .minor {
    display: flex;
    flex-wrap: wrap;
    justify-content: space-between;
    margin: calc(var(--_space) * -1);
  }
  .quiet-button {
    padding: 0 8px;
    border-color: transparent;
    background: none;
    color: var(--_muted);
    text-decoration: underline;
    text-underline-offset: 3px;
  }
  .search {
    padding-inline: 14px;
  }

  fieldset {
    display: grid;
    gap: var(--_space);
    min-width: 0;
    padding: 0;
    border: 0;
  }
  legend {
    padding: 0 0 6px;
    font-weight: 600;
  }
  .option {
    display: grid;
    grid-template-columns: auto 1fr auto;
    align-items: center;
    column-gap: 12px;
    min-height: 60px;
    padding: 8px 14px;
    border: 1px solid var(--_border);
    border-radius: var(--_inner);
    transition: border-color 0.15s;
  }
  .option:hover,
  .option:has(:checked),
  .amount:hover,
  .tool:hover {
    border-color: var(--_accent);
  }
  .option:has(:checked) {
    background: var(--_surface);
    box-shadow: inset 0 0 0 1px var(--_accent);
  }
  .option input {
    grid-area: 1 / 3 / 3;
    width: 20px;
    min-height: 20px;
    accent-color: var(--_accent);
  }
  .option .icon {
    grid-area: 1 / 1 / 3;
  }
  .option span,
  dd {
    font-weight: 600;
  }
  .option small {
    font-weight: 400;
  }
  .detail:empty {
    display: none;
  }
  .icon,
  .badge,
  .mark {
    flex: none;
  }
  .icon,
  .badge {
    forced-color-adjust: none;
  }

  .facts {
    padding-inline: 14px;
    border-radius: var(--_inner);
    background: var(--_surface);
  }
  .facts div {
    display: flex;
    flex-wrap: wrap;
    justify-content: space-between;
    column-gap: 16px;
    padding-block: 12px;
  }
  .facts div + div {
    border-top: 1px solid var(--_border);
  }
  dt {
    color: var(--_muted);
  }
  dd .icon,
  p .icon {
    width: 22px;
    height: 22px;
  }

  .amount {
    display: flex;
    align-items: center;
    justify-content: center;
    gap: 10px;
    min-height: 64px;
    font-size: clamp(1.125rem, 5.6vw, 1.75rem);
    font-weight: 700;
    line-height: 1.15;
    overflow-wrap: normal;
  }
  .base,
  figcaption {
    text-align: center;
  }
  .mark {
    color: var(--_accent);
    stroke: currentColor;
  }
  .time {
    flex-wrap: wrap;
    justify-content: center;
    color: var(--_muted);
  }
  .time [role] {
    color: var(--_tint, var(--_text));
    font-weight: 700;
    font-variant-numeric: tabular-nums;
  }
  .ring {
    fill: none;
    stroke: var(--_border);
    stroke-width: 3;
    transform: rotate(-90deg);
  }
  .ring circle + circle {
    stroke: var(--_tint, var(--_accent));
  }
  progress {
    appearance: none;
    width: 100%;
    height: 8px;
    border: 0;
    border-radius: 4px;
    overflow: hidden;
    background: var(--_border);
  }
  ::-webkit-progress-bar {
    background: none;
  }
  ::-webkit-progress-value {
    background: var(--_good);
  }
  ::-moz-progress-bar {
    background: var(--_good);
  }
  figure,
  .target {
    display: grid;
    gap: var(--_space);
  }
  .qr {
    width: min(232px, 100%);
    aspect-ratio: 1;
    justify-self: center;
    align-content: center;
    border: 1px solid var(--_border);
    border-radius: var(--_inner);
    background: #fff;
    color: #131a26;
    text-align: center;
    forced-color-adjust: none;
  }
  .address-line {
    padding-inline-start: 14px;
    border: 1px solid var(--_border);
    border-radius: var(--_inner);
  }
  .address {
    flex: 1;
    padding-block: 10px;
    font:
      600 0.9375rem / 1.6 ui-monospace,
      Menlo,
      Consolas,
      monospace;
  }
  .address span {
    display: inline-block;
    margin-inline-end: 0.6ch;
  }
  .dim {
    font-weight: 400;
    color: var(--_muted);
  }
  .tool {
    align-self: stretch;
    width: 52px;
    margin: -1px;
  }
  .second {
    display: grid;
    place-content: center;
    color: var(--_accent);
    font-weight: 600;
    text-decoration: none;
  }

  details {
    border-top: 1px solid var(--_border);
  }
  details + details {
    margin-top: calc(var(--_space) * -2);
  }
  details > p,
  details > .facts {
    margin-bottom: 12px;
    color: var(--_muted);
  }
  dd {
    color: var(--_text);
  }
  summary {
    display: flex;
    align-items: center;
    justify-content: space-between;
    min-height: 48px;
    font-weight: 600;
    list-style: none;
  }
  ::-webkit-details-marker {
    display: none;
  }
  summary::after {
    content: '';
    width: 8px;
    height: 8px;
    margin-inline-end: 6px;
    border: solid var(--_muted);
    border-width: 0 2px 2px 0;
    transform: rotate(45deg);
  }
  [open] > summary::after {
    transform: rotate(225deg);
  }
  ol {
    padding: 0;
    list-style: none;
  }
  li {
    position: relative;
    display: grid;
    padding-block-end: 14px;
    padding-inline-start: 22px;
    border-inline-start: 2px solid var(--_border);
    margin-inline-start: 5px;
  }
  li:last-child {
    border-color: transparent;
  }
  li::before {
    content: '';
    position: absolute;
    inset-block-start: 5px;
    inset-inline-start: -7px;
    width: 12px;
    height: 12px;
    border-radius: 50%;
    border: 2px solid var(--_background);
    background: var(--_tint, var(--_muted));
    forced-color-adjust: none;
  }

  .notice:not(:empty) {
    position: sticky;
    bottom: 12px;
    padding: 10px 14px;
    border: 1px solid var(--_border);
    border-radius: var(--_inner);
    background: var(--_text);
    color: var(--_background);
  }
  .unseen {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @keyframes breathe {
    to {
      opacity: 0.6;
    }
  }
  @media (max-width: 359px) {
    .card {
      padding: calc(var(--_space) * 2);
    }
  }
  @media (prefers-reduced-motion: reduce) {
    * {
      animation: none !important;
      transition: none !important;
    }
  }
`;
