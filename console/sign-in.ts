/**
 * Signing in: by the link's token, which follows # so that it never reaches a server in an address, or by a passkey.
 */
import { html, nothing, type TemplateResult } from 'lit';
import { onServer } from './command-line.js';
import { signInTexts as texts } from './messages/common.js';

export type SignIn =
  { readonly name: 'working' | 'asking' | 'ended' } | { readonly name: 'failed'; readonly message: string };

/** Removes the token from the address immediately, so that it is in no history and no screenshot. */
export function takeToken(): string | undefined {
  const token = location.hash.slice(1);
  if (!/^[\w-]{20,}$/.test(token)) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return token;
}

export function signInView(state: SignIn, usePasskey: () => void): TemplateResult {
  if (state.name === 'working')
    return html`<main class="sign-in" aria-busy="true"><h1>${texts.working}</h1></main>`;
  const problem = state.name === 'ended' ? texts.ended : state.name === 'failed' ? state.message : undefined;
  return html`<main class="sign-in">
    <h1>${texts.title}</h1>
    ${problem === undefined ? nothing : html`<p class="problem" role="alert">${problem}</p>`}
    <p>${texts.text}</p>
    <button class="main" @click=${usePasskey}>${texts.passkey}</button>
    <p>${texts.lost}</p>
    <pre tabindex="0"><code>${onServer(texts.command)}</code></pre>
  </main>`;
}
