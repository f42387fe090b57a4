/** The styles from the coin picker to the address. */
import { css } from 'lit';

export const flowStyles = css`
  .card {
    --_good: #0b7a4b;
    --_bad: #b42318;
  }
  @supports (color: color-mix(in oklab, red, red)) {
    .card {
      --_good: color-mix(in oklab, #12a066 70%, var(--_text));
      --_bad: color-mix(in oklab, #d92d20 70%, var(--_text));
    }
  }
  .body {
    animation: arrive 0.2s ease-out;
  }
  @keyframes arrive {
    from {
      transform: translateY(6px);
    }
  }
  h2:focus-visible {
    outline: none;
  }
  button,
  summary,
  .option {
    cursor: pointer;
    touch-action: manipulation;
  }
  .search,
  .options,
  .target {
    border: 1px solid var(--_border);
    border-radius: var(--_inner);
  }
  .search {
    min-height: 48px;
    padding-inline: 14px;
    border-color: var(--_muted);
    background: var(--_background);
    color: inherit;
    font: inherit;
  }
  .options {
    overflow: clip;
  }
  .option {
    position: relative;
    display: grid;
    grid-template-columns: auto 1fr auto;
    align-items: center;
    column-gap: 12px;
    min-height: 64px;
    padding: 10px 14px;
    line-height: 1.35;
  }
  .option:not(:first-child),
  .nested {
    border-top: 1px solid var(--_border);
  }
  .option:hover,
  .option:has(:checked),
  .nested {
    background: var(--_surface);
  }
  .option:has(:focus-visible) {
    outline: 3px solid var(--_text);
    outline-offset: -3px;
  }
  .option input {
    position: absolute;
    inset: 0;
    appearance: none;
    border-radius: inherit;
    outline: none;
    cursor: pointer;
  }
  .option > .icon {
    grid-row: span 2;
    width: 36px;
    height: 36px;
  }
  .option > span {
    align-self: end;
    font-weight: 600;
  }
  .option > small {
    grid-column: 2;
    align-self: start;
    font-variant-numeric: tabular-nums;
  }
  .option > span:has(+ .detail:empty) {
    grid-row: span 2;
    align-self: center;
  }
  .option small small,
  .option span small {
    font-weight: 400;
  }
  .option em {
    margin-inline-start: 6px;
    padding: 1px 8px;
    border: 1px solid var(--_border);
    border-radius: 99px;
    font-style: normal;
    font-size: calc(var(--_rem) * 0.75);
  }
  /* A tick for what is chosen. */
  .option:has(:checked)::after {
    content: '';
    grid-area: 1 / 3 / 3;
    width: 8px;
    height: 15px;
    border: solid var(--_text);
    border-width: 0 3px 3px 0;
    rotate: 45deg;
  }
  [aria-busy='true'] .option:has(:checked):not(:has(~ .nested :checked))::after {
    width: 18px;
    height: 18px;
    border-width: 2px;
    border-color: var(--_text) var(--_text) transparent;
    border-radius: 50%;
    rotate: none;
    animation: turn 0.8s linear infinite;
  }
  @keyframes turn {
    to {
      rotate: 360deg;
    }
  }
  .nested {
    display: grid;
    gap: 12px;
    padding: 12px 14px 14px;
  }
  .nested .option:not(:hover, :has(:checked)) {
    background: var(--_background);
  }
  .icon {
    flex: none;
    forced-color-adjust: none;
  }
  .chip,
  .asset {
    display: flex;
    align-items: center;
    gap: 10px;
  }
  .chip {
    font-size: calc(var(--_rem) * 0.9375);
  }
  .asset {
    gap: 0;
  }
  .asset .icon + .icon {
    width: 18px;
    height: 18px;
    margin-inline-start: -12px;
    align-self: end;
    border-radius: 6px;
    outline: 2px solid var(--_background);
  }
  .target {
    overflow: clip;
  }
  .row {
    display: grid;
    grid-template-columns: 1fr auto;
    column-gap: 12px;
    align-items: center;
    width: 100%;
    min-height: 48px;
    padding: 10px 16px;
    border: 0;
    border-radius: 0;
    background: var(--_surface);
    text-align: start;
  }
  /* A finger stays on the row below it. */
  @media (hover: hover) {
    .row:hover {
      --_muted: var(--_text);
    }
  }
  .row:focus-visible {
    outline-offset: -3px;
  }
  .row .quiet,
  .row [part] {
    grid-column: 1;
  }
  .row .mark {
    grid-area: 1 / 2 / 3;
  }
  .amount {
    font-size: clamp(calc(var(--_rem) * 1.375), 7cqi, calc(var(--_rem) * 1.75));
    font-weight: 700;
    font-variant-numeric: tabular-nums;
    line-height: 1.2;
  }
  /* Both stay left to right, even in right-to-left texts. */
  [dir='rtl'] :is(.amount, .address) {
    text-align: right;
  }
  .address {
    font:
      600 calc(var(--_rem) * 0.9375) / 1.5 ui-monospace,
      Menlo,
      Consolas,
      monospace;
  }
  .address span {
    display: inline-block;
    margin-inline-end: 0.55ch;
  }
  .address .dim {
    font-weight: 400;
    color: var(--_muted);
  }
  /* Room for a line that loads later, so that nothing moves. */
  .place {
    min-height: 49px;
  }
  .mark {
    stroke: currentColor;
  }
  .warning {
    padding-inline-start: 14px;
    border-inline-start: 3px solid var(--_caution);
    font-size: calc(var(--_rem) * 0.875);
    line-height: 1.4;
  }
  details {
    border-top: 1px solid var(--_border);
  }
  details + details {
    margin-top: calc(var(--_space) * -1);
  }
  summary {
    display: flex;
    align-items: center;
    justify-content: space-between;
    gap: 10px;
    min-height: 48px;
    font-size: calc(var(--_rem) * 0.9375);
    font-weight: 600;
    list-style: none;
  }
  ::-webkit-details-marker {
    display: none;
  }
  summary::after {
    content: '';
    flex: none;
    width: 8px;
    height: 8px;
    margin-inline-end: 6px;
    /* The two lines of the square are below its centre, or above it. */
    translate: 0 -2px;
    border: solid var(--_muted);
    border-width: 0 2px 2px 0;
    rotate: 45deg;
  }
  [open] > summary::after {
    translate: 0 2px;
    rotate: 225deg;
  }
  .order > figure {
    padding-top: calc(var(--_space) * 3);
  }
  figure {
    display: grid;
    gap: 10px;
    justify-items: center;
    padding-bottom: 8px;
  }
  .qr {
    display: grid;
    place-content: center;
    width: min(224px, 100%);
    aspect-ratio: 1;
    padding: 2px;
    border-radius: var(--_inner);
    background: #fff;
    color: #17191f;
    text-align: center;
    forced-color-adjust: none;
  }
  .order .qr {
    width: min(280px, 100%);
  }
  svg.qr {
    outline: 1px solid var(--_border);
  }
  figcaption {
    font-size: calc(var(--_rem) * 0.875);
    color: var(--_muted);
    text-align: center;
  }
  .title:has(.time) {
    flex-wrap: wrap;
    gap: 4px 12px;
  }
  .title h2 {
    flex: 1 1 auto;
  }
  /* The time is next to it, on small phones too. */
  .title:has(.time) h2 {
    font-size: clamp(calc(var(--_rem) * 1.0625), 5cqi, calc(var(--_rem) * 1.375));
  }
  .time {
    gap: 6px;
    color: var(--_tint, var(--_muted));
    font-size: calc(var(--_rem) * 0.9375);
  }
  .title .time {
    margin-inline-start: auto;
  }
  .time small {
    color: inherit;
  }
  .time [role='timer'] {
    color: var(--_tint, var(--_text));
    font-size: calc(var(--_rem) * 1.0625);
    font-weight: 700;
    font-variant-numeric: tabular-nums;
  }
  .soon {
    --_tint: var(--_caution);
  }
  .check {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 10px;
    margin-block: calc(var(--_space) * -0.75);
    font-size: calc(var(--_rem) * 0.875);
    color: var(--_muted);
  }
  .check p {
    flex: 1;
    overflow-wrap: break-word;
  }
  .check button {
    margin-inline-end: -8px;
  }
  .pulse {
    flex: none;
    width: 10px;
    height: 10px;
    border-radius: 50%;
    background: var(--_tint, var(--_good));
    forced-color-adjust: none;
  }
  .badge,
  .mark {
    flex: none;
    fill: none;
    stroke-width: 2;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  .minor {
    display: flex;
    flex-wrap: wrap;
    justify-content: space-between;
    margin: calc(var(--_space) * -0.5) -8px calc(var(--_space) * -1);
  }
  .quiet-button {
    display: inline-grid;
    align-content: center;
    min-height: 44px;
    padding: 0 8px;
    border-color: transparent;
    background: none;
    color: var(--_muted);
    font-size: calc(var(--_rem) * 0.9375);
    text-decoration: underline;
    text-decoration-color: var(--_border);
    text-underline-offset: 4px;
  }
  .quiet-button:hover {
    color: var(--_text);
    text-decoration-color: currentColor;
  }
  /* Notices cover the card, so that nothing moves. */
  .overlay {
    position: sticky;
    bottom: 0;
    grid-column: 1 / -1;
    display: grid;
    align-content: end;
    justify-items: center;
    height: 0;
    pointer-events: none;
  }
  .notice:not(:empty) {
    margin: 0 16px 12px;
    padding: 10px 16px;
    border: 1px solid var(--_background);
    border-radius: var(--_inner);
    background: var(--_text);
    color: var(--_background);
    font-size: calc(var(--_rem) * 0.9375);
  }
  .unseen {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  .error,
  .urgent {
    --_tint: var(--_bad);
  }
`;
