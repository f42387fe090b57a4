/** Styles for after the QR code: help, time log, receipt and endings. */
import { css } from 'lit';

export const afterQrStyles = css`
  .facts {
    font-size: calc(var(--_rem) * 0.875);
  }
  .facts div {
    display: flex;
    flex-wrap: wrap;
    justify-content: space-between;
    gap: 0 16px;
    padding-block: 6px;
  }
  dt {
    color: var(--_muted);
  }
  dd {
    margin-inline-start: auto;
    /* An id that does not fit goes to the next line as a whole. */
    overflow-wrap: break-word;
    max-inline-size: 100%;
    font-weight: 500;
    font-variant-numeric: tabular-nums;
    text-align: end;
  }
  .pair {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(var(--_rem) * 8.5, 100%), 1fr));
    gap: 8px;
  }
  .second {
    display: flex;
    align-items: center;
    justify-content: center;
    gap: 6px;
    padding: 8px 6px;
    font-size: calc(var(--_rem) * 0.9375);
    font-weight: 600;
    line-height: 1.25;
    text-align: center;
    text-decoration: none;
  }
  .pair .second {
    gap: 4px;
    padding-inline: 4px;
    font-size: calc(var(--_rem) * 0.875);
  }
  .second:hover {
    border-color: var(--_muted);
  }
  .transfer {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    margin-bottom: 12px;
  }
  .transfer input {
    flex: 1 1 calc(var(--_rem) * 9);
    width: 100%;
    min-width: 0;
  }
  .transfer button {
    padding-inline: 16px;
  }
  .transfer :is(label, p) {
    flex: 1 0 100%;
  }
  .transfer p:not(:empty) {
    padding: 10px 14px;
    border-radius: var(--_inner);
    background: var(--_surface);
    color: var(--_text);
    font-size: calc(var(--_rem) * 0.9375);
  }
  .by-hand {
    display: grid;
    gap: 8px;
    padding: 10px 14px 6px;
    border-radius: var(--_inner);
    background: var(--_surface);
    font-size: calc(var(--_rem) * 0.9375);
  }
  .by-hand textarea {
    min-width: 0;
    padding-block: 10px;
    overflow-wrap: anywhere;
    resize: none;
  }
  [part='copy-log'],
  [part='redirect'] button {
    margin-inline-start: -8px;
  }
  progress.moving {
    background: linear-gradient(90deg, var(--_border) 30%, var(--_good) 50%, var(--_border) 70%) 0 / 200%;
    animation: slide 1.4s infinite linear;
  }
  @keyframes slide {
    from {
      background-position: 150% 0;
    }
    to {
      background-position: -50% 0;
    }
  }
  details > p,
  details > .facts {
    margin-bottom: 12px;
    font-size: calc(var(--_rem) * 0.9375);
    color: var(--_muted);
  }
  details dd {
    color: var(--_text);
  }
  a {
    color: inherit;
    text-underline-offset: 3px;
  }
  .plain:empty {
    display: none;
  }
  .body > .facts:not(:has(+ details)) {
    border-block: 1px solid var(--_border);
    padding-block: 6px;
  }
  .body > .facts + .facts {
    margin-top: calc(var(--_space) * -2 - 1px);
  }
  .facts a {
    display: inline-block;
    padding-block: 12px;
    margin-block: -12px;
  }
  time {
    font-size: calc(var(--_rem) * 0.8125);
    color: var(--_muted);
    font-variant-numeric: tabular-nums;
  }
  ol {
    padding: 4px 0 0;
    list-style: none;
  }
  ol li {
    position: relative;
    display: grid;
    padding-block-end: 14px;
    padding-inline-start: 22px;
    border-inline-start: 2px solid var(--_border);
    margin-inline-start: 5px;
    font-size: calc(var(--_rem) * 0.9375);
    line-height: 1.4;
  }
  ol li:last-child {
    border-color: transparent;
  }
  ol li::before {
    content: '';
    position: absolute;
    inset-block-start: 4px;
    inset-inline-start: -7px;
    width: 12px;
    height: 12px;
    border-radius: 50%;
    border: 2px solid var(--_background);
    background: var(--_tint, var(--_muted));
    forced-color-adjust: none;
  }
  ol .error {
    --_tint: var(--_bad);
    padding-block: 0 14px;
    padding-inline: 22px 0;
    border-radius: 0;
    border-inline-start: 2px solid var(--_border);
    background: none;
  }
  [part='wrong-asset'] {
    --_tint: var(--_caution);
  }
  figcaption,
  .chip,
  .error,
  .status {
    text-wrap: balance;
  }
  /* For titles of two lines, in narrow cards. */
  summary {
    padding-block: 6px;
  }
  /* Nearer together, so that what a wrong coin adds pushes nothing off a laptop's screen. */
  @container (min-width: 720px) {
    .body:has(> [part='wrong-asset']) {
      gap: var(--_space);
    }
  }
  .question {
    display: grid;
    gap: 10px;
    padding: 16px;
    border: 1px solid var(--_border);
    border-radius: var(--_inner);
    background: var(--_surface);
    font-size: calc(var(--_rem) * 0.9375);
  }

  .badge {
    width: 40px;
    padding: 6px;
    border-radius: 50%;
    background: var(--_tint, var(--_accent));
    stroke: var(--_stroke, var(--_background));
    forced-color-adjust: none;
  }
  .badge.waiting {
    --_stroke: var(--_on-accent);
  }
  .badge.calm {
    --_tint: #5d6778;
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
    border-radius: 4px;
    background: var(--_good);
  }
  @media (prefers-reduced-motion: no-preference) {
    ::-webkit-progress-value {
      transition: inline-size 0.3s;
    }
  }
  ::-moz-progress-bar {
    background: var(--_good);
  }
  /* The line of the last check shows it in its place. Screen readers still hear it from here. */
  .pay:has(.check) ~ .overlay [part='connection'] {
    clip-path: inset(50%);
  }
  .lost {
    --_tint: var(--_muted);
  }
  progress + .quiet {
    margin-top: calc(var(--_space) * -1.25);
  }
  .status:empty {
    margin-top: calc(var(--_space) * -2);
  }
  .second + details {
    margin-top: calc(var(--_space) * -1);
  }
  .second + [part='time-log'] {
    margin-top: 0;
  }
  .success {
    --_tint: var(--_good);
  }
  .failure {
    --_tint: var(--_bad);
  }
  /* Without colours, borders set the main action apart, and quiet ones keep their frames. */
  @media (forced-colors: active) {
    .action {
      border-width: 3px;
    }
    .minor {
      gap: 8px;
      margin: 0;
    }
    .check button,
    [part='copy-log'],
    [part='redirect'] button {
      margin: 0;
    }
    progress {
      height: 10px;
      border: 1px solid;
      forced-color-adjust: none;
      --_border: Canvas;
      --_good: Highlight;
    }
  }
  @media print {
    /* Paper is white, whatever the page's colours are. */
    .card {
      --_background: #fff;
      --_surface: #fff;
      --_text: #17191f;
      --_muted: #4b5162;
      --_border: #d5d8df;
      --_test: #fff;
      --_on-test: #5a3c00;
      color: var(--_text);
      color-scheme: light;
      box-shadow: none;
    }
    button,
    details,
    .overlay,
    .time,
    .minor {
      display: none !important;
    }
  }
  .paid {
    display: grid;
    gap: 2px;
  }
  .action + .paid {
    margin-top: var(--_space);
  }
  [part='redirect'] {
    flex-wrap: wrap;
  }
  [part='refund'] {
    --_tint: var(--_good);
  }
  .facts em {
    font-style: normal;
    font-size: calc(var(--_rem) * 0.8125);
    color: var(--_muted);
  }
  .success path {
    stroke-dasharray: 20;
    animation: draw 0.3s ease-out;
  }
  @keyframes draw {
    from {
      stroke-dashoffset: 20;
    }
  }
  .pulse {
    animation: pulse 1.6s infinite ease-out;
  }
  @keyframes pulse {
    from {
      box-shadow: 0 0 0 0 color-mix(in srgb, var(--_good), transparent 40%);
    }
    to {
      box-shadow: 0 0 0 9px transparent;
    }
  }
`;
