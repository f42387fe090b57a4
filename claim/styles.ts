/** The claim page's additions to the checkout's styles. */
import { css } from 'lit';

export const claimStyles = css`
  .card {
    --_good: color-mix(in oklab, #12a066 70%, var(--_text));
    --_bad: color-mix(in oklab, #d92d20 70%, var(--_text));
  }
  :host {
    display: block;
    container-type: inline-size;
    margin-inline: auto;
  }
  .single {
    max-inline-size: 460px;
    margin-inline: auto;
  }
  dl {
    display: grid;
    gap: 6px;
    margin-top: calc(var(--_space) * 2);
    font-size: calc(var(--_rem) * 0.9375);
  }
  dl > div {
    display: flex;
    flex-wrap: wrap;
    justify-content: space-between;
    gap: 0 16px;
  }
  dt {
    color: var(--_muted);
  }
  /* It stays in the page, since screen readers announce only what changes in it. */
  [role='alert']:not(:has(*)) {
    position: absolute;
  }
  label {
    margin-bottom: calc(var(--_space) * -1.25);
    font-weight: 600;
  }
  input {
    min-height: 52px;
    inline-size: 100%;
    padding-inline: 14px;
    border: 1px solid var(--_muted);
    border-radius: var(--_inner);
    background: var(--_background);
    color: inherit;
    font-family: ui-monospace, monospace;
    font-size: max(16px, calc(var(--_rem) * 0.9375));
  }
  .second {
    display: flex;
    align-items: center;
    justify-content: center;
    gap: 8px;
    padding: 8px 16px;
    font-weight: 600;
    text-align: center;
    text-decoration: none;
  }
  .second:hover {
    border-color: var(--_muted);
  }
  .target {
    padding: 14px;
    border: 1px solid var(--_border);
    border-radius: var(--_inner);
    background: var(--_surface);
  }
  .blocks {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 12px;
    margin-top: 6px;
    font-family: ui-monospace, monospace;
    font-size: calc(var(--_rem) * 1.0625);
    font-weight: 600;
  }
  .hash {
    font-family: ui-monospace, monospace;
    overflow-wrap: anywhere;
  }
  a:not(.second) {
    color: inherit;
  }
  .steps {
    display: grid;
    gap: 10px;
    padding: 0;
    list-style: none;
  }
  .steps li {
    display: flex;
    gap: 10px;
    color: var(--_muted);
  }
  .steps li::before {
    content: '';
    flex: none;
    inline-size: 12px;
    block-size: 12px;
    margin-top: 6px;
    border: 2px solid currentcolor;
    border-radius: 50%;
  }
  .steps .done,
  .steps .current {
    color: var(--_text);
  }
  .steps .done::before {
    border-color: var(--_good);
    background: var(--_good);
  }
  .steps .current {
    font-weight: 600;
  }
  .steps .current::before {
    border-color: var(--_accent);
    box-shadow: inset 0 0 0 2px var(--_background);
    background: var(--_accent);
  }
  .proven {
    color: var(--_good);
  }
  .safety {
    padding-top: calc(var(--_space) * 2);
    border-top: 1px solid var(--_border);
  }
  @container (min-width: 720px) {
    .single {
      grid-template-columns: 1fr;
    }
  }
  @media (forced-colors: active) {
    .steps .done::before,
    .steps .current::before {
      forced-color-adjust: none;
    }
  }
`;
