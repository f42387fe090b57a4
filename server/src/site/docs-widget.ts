/** The chapters on the widget: how a page gets it, everything that it has, and how it is tried out. */
import * as z from 'zod/mini';
import { code, html, type Html } from './html.js';

export interface Chapter {
  readonly id: string;
  readonly title: string;
  readonly content: Html;
}

/** The script as `npm run build` made it. */
export interface ScriptBuild {
  /** The widget's version, which is in the script's name. */
  readonly version: string;
  /** A hash for each file, by its path below the server's root; empty if the widget has not been built. */
  readonly integrity: Readonly<Record<string, string>>;
}

const entries = z.array(z.tuple([z.string(), z.string(), z.string()]));

/** What `npm run manifest` writes to `data/widget.json`. Entries have a name, a type, which can be empty, and a description. */
export const widgetReference = z.object({
  attributes: entries,
  properties: entries,
  methods: entries,
  events: entries,
  slots: entries,
  parts: entries,
  tokens: entries,
  /** Values of `status`, what is shown, and the events on the way there. */
  states: z.array(z.tuple([z.string(), z.string(), z.string()])),
  /** When something is said to a screen reader, and what. */
  speech: z.array(z.tuple([z.string(), z.string()])),
});

export type WidgetReference = z.infer<typeof widgetReference>;

/** @param publicUrl where pages reach the server */
export function widgetChapters(
  publicUrl: string,
  script: ScriptBuild,
  reference: WidgetReference,
): readonly Chapter[] {
  return [
    { id: 'widget', title: 'Five-minute start', content: start(publicUrl) },
    { id: 'installation', title: 'Install the widget', content: installation(publicUrl, script) },
    { id: 'fallback', title: 'Without script', content: fallback(publicUrl) },
    { id: 'simulator', title: 'Try every ending', content: simulator(publicUrl) },
    { id: 'states', title: 'States and events', content: states(reference) },
    { id: 'element', title: 'The element', content: element(reference) },
    { id: 'speech', title: 'What a screen reader says', content: speech(reference) },
  ];
}

function start(publicUrl: string): Html {
  const tag = `<script type="module" src="${publicUrl}/crypto-checkout.js"></script>
<crypto-checkout
  public-key="pk_test_…"
  amount="49.90"
  base-currency="USD"
  tx-ref="order-42"
></crypto-checkout>`;
  const keys = `npx crypto-checkout-server merchants create --name "My Shop"
npx crypto-checkout-server keys create --merchant ID --kind public --mode test
npx crypto-checkout-server keys create --merchant ID --kind secret --mode test`;
  return html`
    <ol>
      <li>
        On the server, create a merchant and its keys. <code>npx crypto-checkout-server --help</code> lists
        all commands; in a clone of the repository it is <code>node server/dist/cli.js</code>.
        <pre><code>${keys}</code></pre>
      </li>
      <li>
        Put two lines into your page. The script finds the API at the address that it was loaded from.
        <pre><code>${tag}</code></pre>
      </li>
      <li>
        Press the button, choose a coin, and pay with simulated money:
        <a href="#simulator">Try every ending</a>.
      </li>
      <li>
        On your server, <a href="#verification">verify the payment</a> when a <a href="#webhooks">webhook</a>
        arrives, and deliver only then. What the page shows is no proof.
      </li>
      <li>
        For real money, replace the keys by those of live mode. Nothing else changes. The operator of this
        server sets up networks and deposit keys once.
      </li>
    </ol>
  `;
}

/** @param publicUrl where pages reach the server */
function installation(publicUrl: string, { version, integrity }: ScriptBuild): Html {
  const entry = `crypto-checkout-${version}.js`;
  const chunks = Object.entries(integrity).filter(([name]) => name !== entry);
  const importMap = {
    integrity: Object.fromEntries(chunks.map(([name, hash]) => [`${publicUrl}/${name}`, hash])),
  };
  return html`
    <p>
      In a project with a build, install the package from this server. It always matches the API, and it works
      without a registry. Set <code>api-url="${publicUrl}"</code> on the tag.
    </p>
    <pre><code>npm install ${publicUrl}/crypto-checkout.tgz</code></pre>
    <p>
      <code>import 'crypto-checkout'</code> defines the tag. <code>crypto-checkout/react</code> is a component
      for React, which needs <code>@lit/react</code> too, <code>crypto-checkout/client</code> is for your
      server, and <code>crypto-checkout/types/…</code> has the tag's types for React, Preact, Solid, Vue and
      Svelte.
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

function fallback(publicUrl: string): Html {
  const id = '01J9ZQ4W3V8K2M6N7P5R0S1T2X';
  return html`
    <p>
      What stands inside the tag is shown until the script has defined the element, and stays where scripts
      are off or blocked. Put another way to pay there: the hosted page of the payment that your server has
      created.
    </p>
    <pre><code>${`<crypto-checkout public-key="pk_live_…" payment-id="${id}">
  <a href="${publicUrl}/pay/${id}">Pay with crypto</a>
</crypto-checkout>`}</code></pre>
    <p>
      The hosted page needs scripts itself, so this helps where a policy of your page or a failed download is
      in the way. The package can be imported on a server, and the tag can be rendered there: its attributes
      are all that the script needs.
    </p>
  `;
}

function simulator(publicUrl: string): Html {
  const call = (path: string, body: object) =>
    `curl ${publicUrl}${path} -H "Authorization: Bearer $SECRET_KEY" \\
  -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  const network = 'tron';
  const transfer = { network, currency: 'USDT', address: 'ADDRESS', amount: 49.9 };
  const rows = [
    ['Paid', 'Send the whole amount. Simulated networks add a block every few seconds by themselves.'],
    [
      'A part, or too much',
      'Send less, or more. The payer sees what is left, or that the shop has the excess.',
    ],
    ['The wrong coin', 'Send another `currency` to the same address.'],
    [
      'Time is up',
      'Move the clock by 1800 seconds with `/sandbox/clock`. Send before or after it, for a late payment.',
    ],
    ['Taken back', 'Replace the last blocks with `/sandbox/reorgs` after a success.'],
    ['Cancelled', 'Press Cancel, then send, for money that comes too late.'],
  ] as const;
  return html`
    <p>
      With a secret test key, you are the payer and the network. The address and the amount are those that the
      checkout shows.
    </p>
    <pre><code>${call('/sandbox/transfers', transfer)}</code></pre>
    ${list(rows)}
    <p>
      <a href="#sandbox">Sandbox</a> has every call. The demo shop has buttons for them, if the operator has
      left it on.
    </p>
  `;
}

function states({ states: rows }: WidgetReference): Html {
  return html`
    <p>
      <code>status</code>, as an attribute and a property, says where the payment is. Each event fires once
      for a change, after the element has drawn it, bubbles, and has the <code>payment</code>. A page that
      comes back to a payment fires the event of its current state again, <code>checkout-success</code> too.
    </p>
    <dl class="parameters">
      ${rows.map(
        ([name, shown, events]) =>
          html`<div>
            <dt>${code(name)}</dt>
            <dd>${code(events === '' ? shown : `${shown}. Events: ${events}`)}</dd>
          </div>`,
      )}
    </dl>
  `;
}

function element(reference: WidgetReference): Html {
  const { attributes, properties, methods, events, slots, parts, tokens } = reference;
  const sections = [
    ['Attributes', 'Each is also a property, in camel case.', attributes],
    ['Properties', '', properties],
    ['Methods', '', methods],
    ['Events', '', events],
    ['Slots', '', slots],
    ['Custom properties', 'All other colours follow from the first two, with enough contrast.', tokens],
    ['Parts', 'For `crypto-checkout::part(name)` in your CSS.', parts],
  ] as const;
  return html`${sections.map(
    ([title, note, rows]) =>
      html`<h3>${title}</h3>
        ${note === '' ? html`` : html`<p>${code(note)}</p>`}
        <dl class="parameters">
          ${rows.map(
            ([name, type, description]) =>
              html`<div>
                <dt><code>${name}</code> <span class="type">${type}</span></dt>
                <dd>${code(description)}</dd>
              </div>`,
          )}
        </dl>`,
  )}`;
}

function speech({ speech: rows }: WidgetReference): Html {
  return html`
    <p>
      In English; the other languages say the same. One sentence for each step, in the element with
      <code>role="status"</code>, unless it says otherwise.
    </p>
    ${list(rows)}
  `;
}

function list(rows: readonly (readonly [string, string])[]): Html {
  return html`<dl class="parameters">
    ${rows.map(
      ([term, text]) =>
        html`<div>
          <dt>${code(term)}</dt>
          <dd>${code(text)}</dd>
        </div>`,
    )}
  </dl>`;
}
