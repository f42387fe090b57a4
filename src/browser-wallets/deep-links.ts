/** Links that open a page in the browser of a wallet app. A phone's own browser has no wallet that could announce itself. */

export interface WalletApp {
  readonly name: string;
  /** Opens the page in the app, or a page from which to install it. */
  readonly url: string;
}

/**
 * @param page an https URL; wallets open no other
 * @see https://docs.metamask.io/sdk/guides/use-deeplinks the page without its scheme, not encoded
 * @see https://docs.cdp.coinbase.com/coinbase-wallet/developer-guidance/mobile-dapp-integration
 * @see https://developer.trustwallet.com/developer/develop-for-trust/deeplinking 60 is Ethereum's number in SLIP-44
 * @see https://web3.okx.com/build/docs/waas/app-universal-link a link in a link, so that it is encoded twice
 * @see https://docs.phantom.com/phantom-deeplinks/other-methods/browse
 */
export function walletApps(page = ''): WalletApp[] {
  if (!page.startsWith('https://')) return [];
  const encoded = encodeURIComponent(page);
  return [
    { name: 'MetaMask', url: `https://link.metamask.io/dapp/${page.slice('https://'.length)}` },
    { name: 'Coinbase Wallet', url: `https://go.cb-w.com/dapp?cb_url=${encoded}` },
    { name: 'Trust Wallet', url: `https://link.trustwallet.com/open_url?coin_id=60&url=${encoded}` },
    {
      name: 'OKX Wallet',
      url: `https://web3.okx.com/download?deeplink=${encodeURIComponent(`okx://wallet/dapp/url?dappUrl=${encoded}`)}`,
    },
    {
      name: 'Phantom',
      url: `https://phantom.app/ul/browse/${encoded}?ref=${encodeURIComponent(new URL(page).origin)}`,
    },
  ];
}
