/** Styles of the modal, added to the checkout's when it is loaded. */
import { css } from 'lit';

export const modalStyles = css`
  dialog {
    width: min(480px, 100% - 32px);
    max-width: none;
    max-height: calc(100dvh - 32px);
    margin: auto;
    padding: 0;
    border: 0;
    border-radius: var(--_radius);
    background: var(--_background);
    color: var(--_text);
    overflow: auto;
    overscroll-behavior: contain;
  }
  dialog::backdrop {
    background: #0a0f19a6;
  }
  .close {
    position: sticky;
    z-index: 1;
    inset-block-start: 8px;
    display: grid;
    place-content: center;
    width: 44px;
    margin-block-end: -44px;
    margin-inline: auto 8px;
    border-color: transparent;
    border-radius: 50%;
    background: var(--_background);
  }
  dialog .card {
    border: 0;
    border-radius: 0;
    box-shadow: none;
    padding-block-start: 52px;
  }
  @media (max-width: 519px) {
    dialog {
      width: 100%;
      height: 100dvh;
      max-height: none;
      border-radius: 0;
    }
    dialog .card {
      min-height: 100%;
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
