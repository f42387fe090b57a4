/** Draws the wallets to pay from, what the chosen one waits for, and what was sent. */
import { html, nothing, type TemplateResult } from 'lit';
import { amountDue } from '../money/amount-due.js';
import type { EvmAsset, Payment } from '../contract/checkout.js';
import type { ViewContext } from '../views/view.js';
import { walletApps } from './deep-links.js';
import type { Step } from './pay.js';
import type { Refusal, Wallet } from './provider.js';
import type { SentTransfer } from './sent-memory.js';

/** The payer's current step with a wallet. */
export type PanelState =
  | { readonly name: 'choosing' }
  | { readonly name: 'waiting'; readonly wallet: Wallet; readonly step: Step }
  | { readonly name: 'refused'; readonly wallet: Wallet; readonly reason: Refusal }
  /** The payer wants to send again, and is asked to confirm. */
  | { readonly name: 'asking' }
  /** The payer has confirmed, and chooses a wallet again. */
  | { readonly name: 'choosing-again' };

export interface PanelActions {
  pay(wallet: Wallet): void;
  stop(): void;
  show(name: 'asking' | 'choosing' | 'choosing-again'): void;
}

interface PanelProps {
  readonly state: PanelState;
  readonly payment: Payment;
  readonly evm: EvmAsset;
  readonly wallets: readonly Wallet[];
  /** The wallet of the main action. */
  readonly mainWallet: Wallet | undefined;
  readonly sent: SentTransfer | undefined;
  /** A phone's own browser has no wallets, but wallet apps have browsers. */
  readonly isOnPhone: boolean;
  readonly actions: PanelActions;
}

export function walletPanel(props: PanelProps, context: ViewContext): TemplateResult | typeof nothing {
  const { state, payment, wallets, mainWallet, sent, isOnPhone } = props;
  const apps = wallets.length === 0 && isOnPhone && !sent ? walletApps(payment.pageUrl) : [];
  if (wallets.length === 0 && apps.length === 0 && !sent) return nothing;
  const isDone = sent && (state.name === 'choosing' || state.name === 'asking');
  const others = state.name === 'waiting' ? [] : wallets.filter((one) => one !== mainWallet);
  // The live regions stay, because screen readers announce only changes to them.
  return html`<div part="wallets" class="wallets" tabindex="-1">
    ${isDone ? nothing : others.map((wallet) => walletButton(wallet, props, context))}
    ${apps.map(
      ({ name, url }) =>
        html`<a
          part="wallet-app"
          class="second"
          href=${url}
          rel="noreferrer"
          @click=${(event: Event) => {
            event.preventDefault();
            context.openWallet(url, payment.pageUrl);
          }}
          >${context.text('walletApp', { wallet: name })}</a
        >`,
    )}
    <p
      part="wallet-status"
      class="wallet-status"
      role="status"
      .textContent=${statusText(props, context)}
    ></p>
    <p
      part="wallet-problem"
      class=${state.name === 'refused' ? 'error' : ''}
      role="alert"
      .textContent=${problemText(props, context)}
    ></p>
    ${
      state.name === 'waiting'
        ? html`<button part="wallet-stop" class="quiet-button" type="button" @click=${props.actions.stop}>
            ${context.text('walletStop')}
          </button>`
        : nothing
    }
    ${isDone ? afterSending(sent, props, context) : nothing}
  </div>`;
}

function walletButton(wallet: Wallet, { actions }: PanelProps, context: ViewContext): TemplateResult {
  const hide = (event: Event) => {
    // A page's policy may not allow data: URLs.
    if (event.target instanceof HTMLElement) event.target.hidden = true;
  };
  return html`<button
    part="wallet-option"
    class="wallet-option"
    type="button"
    @click=${() => actions.pay(wallet)}
  >
    ${wallet.icon === undefined ? nothing : html`<img class="wallet-icon" src=${wallet.icon} alt="" @error=${hide} />`}
    <span>${payLabel(wallet, context)}</span>
  </button>`;
}

export function payLabel(wallet: Wallet, context: ViewContext): string {
  return context.text('payFromWallet', { wallet: nameOf(wallet, context) });
}

function afterSending(
  { hash }: SentTransfer,
  { state, evm, wallets, actions }: PanelProps,
  { text }: ViewContext,
): TemplateResult {
  const label = text('walletTransaction', { hash: hash ? `${hash.slice(0, 10)}…${hash.slice(-8)}` : '' });
  const url = hash === undefined ? undefined : explorerUrl(evm, hash);
  return html`${
    hash === undefined
      ? nothing
      : url === undefined
        ? html`<p part="wallet-hash" class="quiet" title=${hash}>${label}</p>`
        : html`<a
            part="wallet-hash"
            class="wallet-hash"
            translate="no"
            href=${url}
            target="_blank"
            rel="noreferrer"
            >${label}</a
          >`
  }
  ${
    state.name === 'asking'
      ? html`<div class="pair">
          <button part="wallet-keep" class="second" type="button" @click=${() => actions.show('choosing')}>
            ${text('walletAgainNo')}
          </button>
          <button
            part="wallet-again"
            class="second"
            type="button"
            @click=${() => actions.show('choosing-again')}
          >
            ${text('walletAgainYes')}
          </button>
        </div>`
      : wallets.length > 0
        ? html`<button
            part="wallet-again"
            class="quiet-button"
            type="button"
            @click=${() => actions.show('asking')}
          >
            ${text('walletAgain')}
          </button>`
        : nothing
  }`;
}

function statusText({ state, payment, sent }: PanelProps, context: ViewContext): string {
  const { text, money } = context;
  const { networkName, currencyNetwork = '', currency = '' } = payment;
  if (state.name === 'waiting') {
    return text(state.step, {
      wallet: nameOf(state.wallet, context),
      network: networkName ?? currencyNetwork,
      amount: money(amountDue(payment), currency),
    });
  }
  // The top of the card reports what was sent.
  return sent && state.name !== 'choosing' ? text('walletAgainQuestion') : '';
}

export function sentText({ hash }: SentTransfer, text: ViewContext['text']): string {
  return text(hash === undefined ? 'walletUnsure' : 'walletSent');
}

function problemText({ state, payment, evm }: PanelProps, context: ViewContext): string {
  if (state.name !== 'refused') return '';
  const { networkName, currencyNetwork = '', currency = '' } = payment;
  return context.text(state.reason, {
    wallet: nameOf(state.wallet, context),
    network: networkName ?? currencyNetwork,
    currency,
    coin: evm.coin,
  });
}

function nameOf({ name }: Wallet, { text }: ViewContext): string {
  return name || text('browserWallet');
}

/** Only https: the explorer is the operator's setting. */
function explorerUrl({ explorer }: EvmAsset, hash: string): string | undefined {
  const url = explorer?.replace('{txHash}', hash);
  return url?.startsWith('https://') ? url : undefined;
}
