/** Draws the claim page: one pure function per step. */
import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import type { Wallet } from '../src/browser-wallets/provider.js';
import type { RefundClaim } from '../src/contract/refunds.js';
import { groupAddress } from '../src/money/address.js';
import { formatAmount } from '../src/money/format.js';
import { initials } from '../src/views/initials.js';

/** In the payer's language, from the server. Placeholders such as `{shop}` are filled in here. */
export type ClaimTexts = Readonly<Record<string, string>>;

export type Step =
  | { readonly name: 'loading' }
  | { readonly name: 'gone' }
  | { readonly name: 'entering'; readonly address: string }
  | { readonly name: 'confirming'; readonly address: string }
  | { readonly name: 'following' };

export interface ClaimProblem {
  readonly kind: 'wrongAddress' | 'secret' | 'refused' | 'busy' | 'offline' | 'notProven';
  /** The server's message, in English. */
  readonly details?: string;
}

export interface ClaimProps {
  readonly texts: ClaimTexts;
  readonly claim: RefundClaim | undefined;
  readonly step: Step;
  readonly problem: ClaimProblem | undefined;
  readonly wallets: readonly Wallet[];
  readonly isBusy: boolean;
  /** The wallet that can sign for the address; undefined if none can. */
  readonly signer: { readonly wallet: Wallet; readonly isDone: boolean } | undefined;
}

export interface ClaimActions {
  check(address: string): void;
  confirm(): void;
  edit(): void;
  useWallet(wallet: Wallet): void;
  prove(): void;
  retry(): void;
}

type Say = (key: string, values?: Readonly<Record<string, string>>) => string;

const addressForms: Readonly<Record<RefundClaim['addressKind'], RegExp>> = {
  bitcoin: /^[a-z0-9]{26,90}$/i,
  evm: /^0x[0-9a-f]{40}$/i,
  tron: /^T\w{33}$/,
};

/** Catches input that is not an address at all before it is compared block by block. The server checks every rule. */
export const looksLikeAddress = (address: string, kind: RefundClaim['addressKind']): boolean =>
  addressForms[kind].test(address);

export function claimView(props: ClaimProps, actions: ClaimActions): TemplateResult {
  const { texts, claim, step, problem, isBusy } = props;
  const say: Say = (key, values = {}) => {
    const known: Readonly<Record<string, string>> = { ...valuesOf(claim), host: location.host, ...values };
    return (texts[key] ?? '').replace(/\{(\w+)\}/g, (whole, name: string) => known[name] ?? whole);
  };
  const { heading, help } = wordsOf(step, claim);
  const isSplit = claim && step.name !== 'gone';
  return html`<section class="card ${isSplit ? '' : 'single'}" aria-labelledby="heading" aria-busy=${isBusy}>
    ${claim?.mode === 'test' ? html`<p class="test">${say('test')}</p>` : nothing}
    ${isSplit ? orderOf(claim, say) : nothing}
    <div class="pay">
      <h2 id="heading" tabindex="-1">${say(heading)}</h2>
      <p class="status" role="status">${help === undefined || problem ? nothing : say(help)}</p>
      <div role="alert">
        ${
          problem
            ? html`<div class="error">
                ${say(problem.kind)}
                ${problem.details === undefined ? nothing : html`<small lang="en" dir="ltr">${problem.details}</small>`}
              </div>`
            : nothing
        }
      </div>
      <div class="body">${bodyOf(props, actions, say)}</div>
      ${isSplit ? html`<p class="quiet safety">${say('safety')}</p>` : nothing}
    </div>
  </section>`;
}

function valuesOf(claim: RefundClaim | undefined): Record<string, string> {
  if (!claim) return {};
  const { shop, currency, networkName: network, fee, feeKept } = claim;
  const kept = formatAmount(feeKept, currency);
  return { shop: shop.name, currency, network, fee: formatAmount(fee, currency), kept };
}

function wordsOf(step: Step, claim: RefundClaim | undefined): { heading: string; help?: string } {
  switch (step.name) {
    case 'loading':
      return { heading: 'loading' };
    case 'gone':
      return { heading: 'goneHeading', help: 'goneHelp' };
    case 'entering':
      return { heading: 'enterHeading', help: 'enterHelp' };
    case 'confirming':
      return { heading: 'confirmHeading', help: 'confirmHelp' };
    case 'following': {
      const stage = stageOf(claim);
      const isElsewhere = stage === 'waiting' && !claim?.canSetAddress;
      return { heading: `${stage}Heading`, help: isElsewhere ? 'waitingElsewhere' : `${stage}Help` };
    }
  }
}

function stageOf(
  claim: RefundClaim | undefined,
): 'waiting' | 'sending' | 'paid' | 'failed' | 'completed' | 'gone' {
  switch (claim?.status) {
    case 'awaiting_address':
    case 'awaiting_approval':
      return 'waiting';
    case 'approved':
    case 'processing':
      return 'sending';
    case 'paid':
    case 'failed':
      return claim.status;
    case 'cancelled':
      return claim.cancelReason === null ? 'gone' : 'completed';
    case 'expired':
    case undefined:
      return 'gone';
  }
}

function orderOf(claim: RefundClaim, say: Say): TemplateResult {
  const { shop, amount, currency, networkName, txRef, reason, status, expiresAt, feeKept } = claim;
  return html`<div class="order">
    <header class="header">
      ${
        shop.logo
          ? html`<img
              class="logo"
              src=${shop.logo}
              alt=""
              width="40"
              height="40"
              referrerpolicy="no-referrer"
            />`
          : html`<span class="logo" aria-hidden="true">${initials(shop.name)}</span>`
      }
      <div class="who">
        <b><bdi>${shop.name}</bdi></b
        ><small>${say('title')}</small>
      </div>
      <div class="total"><b dir="ltr" translate="no">${formatAmount(amount, currency)}</b></div>
    </header>
    <dl>
      ${row(say('network'), networkName)} ${row(say('networkFee'), say(feeWords(claim)))}
      ${feeKept > 0 ? row(say('serviceFee'), say('feeKept')) : nothing}
      ${txRef ? row(say('order'), txRef) : nothing} ${reason ? row(say('reason'), reason) : nothing}
      ${status === 'awaiting_address' ? row(say('until'), timeOf(expiresAt)) : nothing}
    </dl>
  </div>`;
}

/** A payout in bitcoins or litecoins may know the network's fee only when it is sent, and deduct it from the refund. */
function feeWords({ networkFee, fee, addressKind, status }: RefundClaim): string {
  if (networkFee === 'merchant') return 'feeShop';
  if (addressKind === 'bitcoin' && status !== 'paid') return 'feeOpen';
  return fee > 0 ? 'feeTaken' : 'feeShop';
}

function row(name: string, value: string | TemplateResult): TemplateResult {
  return html`<div>
    <dt>${name}</dt>
    <dd><bdi>${value}</bdi></dd>
  </div>`;
}

function timeOf(iso: string): TemplateResult {
  const text = new Intl.DateTimeFormat(document.documentElement.lang || undefined, {
    dateStyle: 'medium',
    timeStyle: 'short',
  }).format(new Date(iso));
  return html`<time datetime=${iso}>${text}</time>`;
}

function bodyOf(props: ClaimProps, actions: ClaimActions, say: Say): TemplateResult | typeof nothing {
  const { claim, step, problem } = props;
  if (step.name === 'loading') return problem ? retryButton(actions, say) : nothing;
  if (!claim) return nothing;
  if (step.name === 'entering') return enterForm(step.address, claim, props, actions, say);
  if (step.name === 'confirming') return confirmForm(step.address, props, actions, say);
  return step.name === 'following' ? progress(claim, actions, say) : nothing;
}

function retryButton({ retry }: ClaimActions, say: Say): TemplateResult {
  return html`<button type="button" class="action" @click=${retry}>${say('retry')}</button>`;
}

function enterForm(
  address: string,
  claim: RefundClaim,
  { wallets, isBusy, problem }: ClaimProps,
  { check, useWallet }: ClaimActions,
  say: Say,
): TemplateResult {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const entered = new FormData(event.currentTarget as HTMLFormElement).get('address');
    check(typeof entered === 'string' ? entered : '');
  };
  const offered = claim.addressKind === 'evm' ? wallets : [];
  return html`<form class="body" novalidate @submit=${submit}>
    <label for="address">${say('address')}</label>
    <input
      id="address"
      name="address"
      dir="ltr"
      maxlength="2000"
      autocomplete="off"
      autocapitalize="none"
      autocorrect="off"
      spellcheck="false"
      aria-describedby="exchange"
      aria-invalid=${problem?.kind === 'wrongAddress' || problem?.kind === 'secret' ? 'true' : 'false'}
      .value=${live(address)}
    />
    <p id="exchange" class="quiet">${say('exchangeHelp')}</p>
    <button type="submit" class="action" aria-disabled=${isBusy}>${say('check')}</button>
    ${offered.map(
      (wallet) =>
        html`<button type="button" class="second" @click=${() => useWallet(wallet)}>
          ${walletIcon(wallet)} ${say('useWallet', { wallet: wallet.name || say('browserWallet') })}
        </button>`,
    )}
  </form>`;
}

function confirmForm(
  address: string,
  { isBusy, signer }: ClaimProps,
  { confirm, edit, prove }: ClaimActions,
  say: Say,
): TemplateResult {
  return html`${blocks(address, say)}
    ${
      signer && !signer.isDone
        ? html`<button type="button" class="second" aria-disabled=${isBusy} @click=${prove}>
            ${say('prove', { wallet: signer.wallet.name || say('browserWallet') })}
          </button>`
        : nothing
    }
    ${signer?.isDone ? html`<p class="quiet proven">✓ ${say('sameWallet')}</p>` : nothing}
    <button type="button" class="action" aria-disabled=${isBusy} @click=${confirm}>${say('confirm')}</button>
    <button type="button" class="second" @click=${edit}>${say('back')}</button>`;
}

function progress(claim: RefundClaim, { edit }: ClaimActions, say: Say): TemplateResult {
  const { address, canSetAddress, txHash, explorerUrl, sameWallet, shop, steps, status } = claim;
  const hash = html`<span class="hash" dir="ltr" translate="no">${txHash}</span>`;
  const labels = {
    address: 'address',
    approval: 'waitingHeading',
    sending: 'sendingHeading',
    sent: 'paidHeading',
  };
  return html`${
    status === 'failed' || status === 'cancelled'
      ? nothing
      : html`<ol class="steps">
          ${steps.map(
            ({ name, state }) =>
              html`<li class=${state} aria-current=${state === 'current' ? 'step' : nothing}>
                ${say(labels[name])}
              </li>`,
          )}
        </ol>`
  }
  ${address === null ? nothing : target(html`<span>${address}</span>`, say)}
  ${sameWallet ? html`<p class="quiet proven">✓ ${say('sameWallet')}</p>` : nothing}
  ${
    txHash === null
      ? nothing
      : html`<p class="quiet">
          ${say('transaction')}<br />${
            explorerUrl
              ? html`<a href=${explorerUrl} target="_blank" rel="noopener noreferrer">${hash}</a>`
              : hash
          }
        </p>`
  }
  ${canSetAddress ? html`<button type="button" class="second" @click=${edit}>${say('change')}</button>` : nothing}
  ${
    /^(https?|mailto):/.test(shop.supportUrl)
      ? html`<a class="second" href=${shop.supportUrl} rel="noreferrer">${say('contact')}</a>`
      : nothing
  }`;
}

/** In blocks of four, for comparison: nobody compares 42 characters at once. */
function blocks(address: string, say: Say): TemplateResult {
  return target(
    groupAddress(address).map(({ text }) => html`<span>${text}</span>`),
    say,
  );
}

function target(address: TemplateResult | readonly TemplateResult[], say: Say): TemplateResult {
  return html`<div class="target">
    <small>${say('address')}</small>
    <p class="blocks" dir="ltr" translate="no">${address}</p>
  </div>`;
}

function walletIcon({ icon }: Wallet): TemplateResult | typeof nothing {
  return icon === undefined ? nothing : html`<img src=${icon} alt="" width="24" height="24" />`;
}
