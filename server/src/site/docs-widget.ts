/** The guide's chapters on the widget: how a page gets it, as a script or as an npm package, and how it pins what it runs. */
import { html, type Html } from './html.js';

/** The script as `npm run build` made it. */
export interface ScriptBuild {
  /** The widget's version, which is in the script's name. */
  readonly version: string;
  /** A hash for each file, by its path below the server's root; empty if the widget has not been built. */
  readonly integrity: Readonly<Record<string, string>>;
}

/** @param publicUrl where pages reach the server */
export function installation(publicUrl: string, { version, integrity }: ScriptBuild): Html {
  const entry = `crypto-checkout-${version}.js`;
  const chunks = Object.entries(integrity).filter(([name]) => name !== entry);
  const importMap = {
    integrity: Object.fromEntries(chunks.map(([name, hash]) => [`${publicUrl}/${name}`, hash])),
  };
  const tag = `<crypto-checkout
  public-key="pk_test_…"
  amount="5000"
  base-currency="NGN"
  tx-ref="order-42"
></crypto-checkout>`;
  return html`
    <p>Two lines are a checkout. The script finds the API at the address that it was loaded from.</p>
    <pre><code>${`<script type="module" src="${publicUrl}/crypto-checkout.js"></script>\n${tag}`}</code></pre>
    <p>
      In a project with a build, install the package from this server. It always matches the API, and it works
      without a registry. Set <code>api-url="${publicUrl}"</code> on the tag.
    </p>
    <pre><code>npm install ${publicUrl}/crypto-checkout.tgz</code></pre>
    <p>
      <code>import 'crypto-checkout'</code> defines the tag. <code>crypto-checkout/react</code> is a component
      for React, <code>crypto-checkout/client</code> is for your server, and
      <code>crypto-checkout/types/…</code> has the tag's types for React, Preact, Solid, Vue and Svelte.
    </p>
    <p>
      <code>/crypto-checkout.js</code> changes when this server is updated. To run exactly what you have
      reviewed, name the version and its hashes; then a browser refuses everything else. Change them together
      with the server: it has only the version that matches its API.
    </p>
    ${
      chunks.length === 0
        ? html`<p>The widget has not been built on this server, so there are no hashes to show.</p>`
        : html`<pre><code>${`<script type="importmap">
${JSON.stringify(importMap, null, 2)}
</script>
<script
  type="module"
  src="${publicUrl}/${entry}"
  integrity="${integrity[entry] ?? ''}"
  crossorigin="anonymous"
></script>`}</code></pre>`
    }
    <p>
      The import map has the hashes of what the script loads later. It must come before the script. Browsers
      that do not know <code>integrity</code> in import maps check the first file only.
    </p>
    <p>The least that a Content Security Policy must allow:</p>
    <pre><code>${`script-src ${publicUrl}; connect-src ${publicUrl}; style-src 'self'; img-src https: data:`}</code></pre>
    <p>
      The widget needs no <code>unsafe-inline</code> and no <code>unsafe-eval</code>, and it runs under
      <code>require-trusted-types-for 'script'</code>. <code>img-src</code> is for your logo. An import map is
      an inline script: allow it by its hash or a nonce.
    </p>
  `;
}
