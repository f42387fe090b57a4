/** Styles of the wallet panel, added to the checkout's when it is loaded. */
import { css } from 'lit';

export const walletStyles = css`
  .wallets {
    display: grid;
    gap: var(--_space);
  }
  /* Live regions stay, and take no space while they are empty. */
  .wallets > p:empty {
    position: absolute;
  }
  .wallets:focus {
    outline: none;
  }
  .wallet-option {
    display: flex;
    align-items: center;
    gap: 10px;
    padding: 8px 14px;
    color: var(--_text);
    font-weight: 600;
    text-decoration: none;
  }
  .wallet-icon {
    width: 24px;
    height: 24px;
    flex: none;
    border-radius: 6px;
  }
  .wallet-hash {
    color: var(--_accent);
    font-size: calc(var(--_rem) * 0.875);
  }
`;
