/** Styles of the modal, added to the checkout's when it is loaded. */
import { css } from 'lit';

export const modalStyles = css`
  dialog {
    width: min(920px, 100% - 32px);
    max-width: none;
    max-height: calc(100dvh - 32px);
    margin: auto;
    padding: 0;
    border: 0;
    border-radius: var(--_radius);
    background: var(--_background);
    color: var(--_text);
    color-scheme: var(--_scheme);
    pointer-events: auto;
    overflow: auto;
    overscroll-behavior: contain;
  }
  dialog::backdrop {
    background: #0a0f19a6;
  }
  .bar {
    position: sticky;
    z-index: 2;
    inset-block-start: 0;
    display: flex;
    align-items: center;
    gap: 12px;
    padding: 4px 8px;
    padding-inline-start: calc(var(--_space) * 2.5);
    border-bottom: 1px solid var(--_border);
    background: var(--_background);
  }
  .bar b {
    font-weight: 600;
    line-height: 1.35;
    overflow-wrap: anywhere;
  }
  .bar [part='total'] {
    overflow-wrap: normal;
    font-variant-numeric: tabular-nums;
  }
  .bar .close {
    margin-inline-start: auto;
    flex: none;
  }
  .bar [part='total'] {
    margin-inline-start: auto;
  }
  .bar [part='total'] ~ .close {
    margin-inline-start: 0;
  }
  /* The bar has both, and stays in view. */
  dialog .header :is([part='merchant'], .total) {
    display: none;
  }
  .left {
    font-variant-numeric: tabular-nums;
  }
  .close {
    display: grid;
    place-content: center;
    width: 44px;
    border-color: transparent;
    border-radius: 50%;
    background: none;
  }
  dialog .test {
    border-radius: 0;
  }
  dialog .card {
    border: 0;
    border-radius: 0;
    box-shadow: none;
  }
  @media (max-width: 519px) {
    dialog {
      width: 100%;
      height: 100dvh;
      max-height: none;
      border-radius: 0;
    }
    dialog .card {
      align-content: start;
    }
  }
  @media (forced-colors: active) {
    dialog {
      border: 2px solid;
    }
  }
  @media (prefers-reduced-motion: no-preference) {
    dialog[open] {
      animation: rise 0.18s ease-out;
    }
    @keyframes rise {
      from {
        opacity: 0;
        transform: translateY(12px);
      }
    }
  }
`;
