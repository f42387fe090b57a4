/** `<refund-claim>`: the payer of a refund enters the address, and follows the refund. */
import { LitElement, type PropertyValues } from 'lit';
import { discoverWallets } from '../src/browser-wallets/discovery.js';
import { isAddress, type Provider, type Wallet } from '../src/browser-wallets/provider.js';
import { secretIn } from '../src/contract/secret-text.js';
import type { RefundClaim } from '../src/contract/refunds.js';
import { styles } from '../src/crypto-checkout.styles.js';
import { drawOrAnew, ForeignDom } from '../src/foreign-dom.js';
import { ClaimFailure, createClaimApi, type ClaimApi } from './api.js';
import { claimStyles } from './styles.js';
import { takeToken } from './token.js';
import { claimView, looksLikeAddress, type ClaimProblem, type ClaimTexts, type Step } from './views.js';

/** Polling interval while the page waits for the shop or the network. */
const pollMs = 10_000;

class RefundClaimElement extends LitElement {
  static override readonly styles = [styles, claimStyles];
  static override readonly properties = {
    apiUrl: { attribute: 'api-url' },
    texts: { type: Object },
    claim: { state: true },
    step: { state: true },
    problem: { state: true },
    wallets: { state: true },
    isBusy: { state: true },
  };

  declare apiUrl: string;
  declare texts: ClaimTexts | undefined;
  declare claim: RefundClaim | undefined;
  declare step: Step;
  declare problem: ClaimProblem | undefined;
  declare wallets: readonly Wallet[];
  declare isBusy: boolean;

  #api: ClaimApi | undefined;
  #token: string | undefined;
  #connection = new AbortController();
  /** Aborts the work for one link when another one is opened. */
  #work = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The wallet that the address came from, which can sign that it paid. */
  #signer: { readonly wallet: Wallet; readonly address: string } | undefined;
  #signature: { readonly address: string; readonly text: string } | undefined;

  constructor() {
    super();
    this.apiUrl = '';
    this.step = { name: 'loading' };
    this.wallets = [];
    this.isBusy = false;
    new ForeignDom(this, () => JSON.stringify([this.claim, this.step]));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#connection = new AbortController();
    const { signal } = this.#connection;
    this.#api = createClaimApi(this.apiUrl);
    // Opening another link in this tab changes only the part after #.
    addEventListener('hashchange', () => this.#open(), { signal });
    document.addEventListener('visibilitychange', () => this.#poll(), { signal });
    addEventListener('online', () => this.#poll(), { signal });
    discoverWallets((wallets) => (this.wallets = wallets), signal);
    this.#open();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#connection.abort();
    this.#work.abort();
    clearTimeout(this.#timer);
  }

  protected override update(changed: PropertyValues): void {
    drawOrAnew(this.renderRoot, () => super.update(changed));
  }

  protected override render() {
    const { texts, claim, step, problem, wallets, isBusy } = this;
    if (!texts) return;
    return claimView(
      { texts, claim, step, problem, wallets, isBusy, signer: this.#proof() },
      {
        check: (address) => void this.#check(address),
        confirm: () => void this.#confirm(),
        edit: () => this.#show({ name: 'entering', address: this.#shownAddress() }),
        useWallet: (wallet) => void this.#useWallet(wallet),
        prove: () => void this.#prove(),
        retry: () => void this.#load(),
      },
    );
  }

  /** Focus follows to the new heading, so that keyboards and screen readers follow the page. */
  protected override updated(changed: PropertyValues<this>): void {
    const before = changed.get('step');
    if (!before || before.name === this.step.name || before.name === 'loading') return;
    this.shadowRoot?.getElementById('heading')?.focus();
  }

  #open(): void {
    this.#work.abort();
    this.#work = new AbortController();
    this.isBusy = false;
    this.#token = takeToken();
    this.#signature = undefined;
    this.#signer = undefined;
    this.#show({ name: 'loading' });
    if (this.#token === undefined) this.#show({ name: 'gone' });
    else void this.#load();
  }

  #show(step: Step, problem?: ClaimProblem): void {
    this.step = step;
    this.problem = problem;
  }

  #shownAddress(): string {
    // The server masks the one that was given.
    return this.step.name === 'confirming' ? this.step.address : '';
  }

  async #load(): Promise<void> {
    const token = this.#token;
    if (token === undefined) return;
    await this.#call(async (api, signal) => this.#accept(await api.retrieve({ token }, signal)));
  }

  /** Shows the server's state, but does not replace a form that the payer is using. */
  #accept(claim: RefundClaim): void {
    const isEditing = this.step.name === 'entering' || this.step.name === 'confirming';
    this.claim = claim;
    if (claim.canSetAddress && isEditing) this.problem = undefined;
    else
      this.#show(
        claim.status === 'awaiting_address' ? { name: 'entering', address: '' } : { name: 'following' },
      );
    this.#schedule(pollMs);
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    const { claim } = this;
    const isOver =
      (claim !== undefined && ['paid', 'failed', 'cancelled'].includes(claim.status)) ||
      this.step.name === 'gone';
    if (!isOver) this.#timer = setTimeout(() => this.#poll(), delayMs);
  }

  #poll(): void {
    if (document.hidden || this.isBusy || this.step.name === 'gone') return;
    if (this.step.name === 'following' || this.problem?.kind === 'offline') void this.#load();
  }

  /** The server checks the address before the payer compares it. */
  async #check(entered: string): Promise<void> {
    const { claim } = this;
    const token = this.#token;
    const address = entered.replace(/\s/g, '');
    if (!claim || token === undefined) return;
    // It stays in no field, and is never sent.
    if (secretIn(entered, 'key')) return this.#show({ name: 'entering', address: '' }, { kind: 'secret' });
    this.#show({ name: 'entering', address: entered });
    if (!looksLikeAddress(address, claim.addressKind)) {
      this.problem = { kind: 'wrongAddress' };
      return;
    }
    await this.#call(async (api, signal) => {
      await api.setAddress({ token, address, checkOnly: true }, signal);
      this.#show({ name: 'confirming', address });
    });
  }

  async #confirm(): Promise<void> {
    const { step } = this;
    const token = this.#token;
    if (step.name !== 'confirming' || token === undefined) return;
    const { address } = step;
    const signature = this.#signature?.address === address ? this.#signature.text : undefined;
    await this.#call(async (api, signal) => {
      const body = { token, address, ...(signature !== undefined && { signature }) };
      const claim = await api.setAddress(body, signal);
      this.#show({ name: 'following' });
      this.#accept(claim);
    });
  }

  async #useWallet(wallet: Wallet): Promise<void> {
    await this.#askWallet(async (signal) => {
      const [address] = await accountsOf(wallet.provider);
      signal.throwIfAborted();
      if (address === undefined) throw new Error('The wallet gave no account');
      this.#signer = { wallet, address };
      this.#show({ name: 'confirming', address });
    });
  }

  async #prove(): Promise<void> {
    const signer = this.#proof();
    const text = this.claim?.signatureText;
    if (!signer || text === undefined) return;
    await this.#askWallet(async (signal) => {
      const message = hexOf(text.replaceAll('{address}', signer.address));
      const signed = await signer.wallet.provider.request({
        method: 'personal_sign',
        params: [message, signer.address],
      });
      signal.throwIfAborted();
      if (typeof signed !== 'string') throw new Error('The wallet gave no signature');
      this.#signature = { address: signer.address, text: signed };
    });
  }

  /** The wallets that can prove, for the address about to be confirmed, that they paid. */
  #proof() {
    const { step, claim } = this;
    const signer = this.#signer;
    if (step.name !== 'confirming' || claim?.signatureText === undefined) return undefined;
    if (signer?.address !== step.address) return undefined;
    return { ...signer, isDone: this.#signature?.address === step.address };
  }

  async #askWallet(ask: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.isBusy) return;
    const { signal } = this.#work;
    this.isBusy = true;
    this.problem = undefined;
    try {
      await ask(signal);
    } catch {
      if (!signal.aborted) this.problem = { kind: 'notProven' };
    } finally {
      if (!signal.aborted) this.isBusy = false;
    }
  }

  async #call(work: (api: ClaimApi, signal: AbortSignal) => Promise<void>): Promise<void> {
    const api = this.#api;
    const { signal } = this.#work;
    if (this.isBusy || !api) return;
    this.isBusy = true;
    try {
      await work(api, signal);
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    } finally {
      if (!signal.aborted) this.isBusy = false;
    }
  }

  #fail(error: unknown): void {
    const failure = error instanceof ClaimFailure ? error : new ClaimFailure('offline', String(error));
    const { kind, message, waitMs = 0 } = failure;
    if (kind === 'gone') {
      this.claim = undefined;
      return this.#show({ name: 'gone' });
    }
    if (kind === 'wrongAddress' && this.step.name === 'confirming') {
      return this.#show({ name: 'entering', address: this.step.address }, { kind });
    }
    this.problem = kind === 'refused' ? { kind, details: message } : { kind };
    this.#schedule(Math.max(waitMs, pollMs));
  }
}

async function accountsOf(provider: Provider): Promise<string[]> {
  const accounts = await provider.request({ method: 'eth_requestAccounts' });
  return Array.isArray(accounts) ? accounts.filter(isAddress) : [];
}

/** The text as `personal_sign` takes it: its bytes in hex, so that no wallet guesses. */
function hexOf(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

customElements.define('refund-claim', RefundClaimElement);
