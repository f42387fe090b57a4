/** The guide at the top of `/docs`: `data/guide.md`, filled with what the widget's manifest, its build and the contract say. */
import { errorStatus, webhookEventType, type ErrorCode } from 'crypto-checkout/contract';
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { apiErrors } from '../reference/errors.js';
import { code, html, Html, markdown } from './html.js';

export interface Chapter {
  readonly id: string;
  readonly title: string;
  readonly content: Html;
}

export interface Guide {
  readonly widget: readonly Chapter[];
  readonly api: readonly Chapter[];
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

const text = readFileSync(new URL('../../data/guide.md', import.meta.url), 'utf8');

/** @param publicUrl where clients reach the API */
export function createGuide(publicUrl: string, script: ScriptBuild, reference: WidgetReference): Guide {
  const generated: Readonly<Record<string, Html>> = {
    integrity: integrityTag(publicUrl, script),
    states: definitions(
      reference.states.map(([name, shown, events]) => [
        code(name),
        code(events === '' ? shown : `${shown}. Events: ${events}`),
      ]),
    ),
    element: elementTables(reference),
    speech: definitions(reference.speech.map(([when, said]) => [code(when), code(said)])),
    events: html`<ul class="columns">
      ${webhookEventType.options.map((type) => html`<li><code>${type}</code></li>`)}
    </ul>`,
    errors: errorList,
  };
  const render = (content: string): Html =>
    new Html(
      markdown(content.replaceAll('{{url}}', publicUrl)).text.replace(
        /<p>\{\{(\w+)\}\}<\/p>/g,
        (_whole, name: string) => generated[name]?.text ?? '',
      ),
    );
  const [widget = [], api = []] = text
    .split(/^# API$/m)
    .map((part) =>
      [...part.matchAll(/^## (.+) \{#([\w-]+)\}$([^]*?)(?=^## |(?![^]))/gm)].map(
        ([, title = '', id = '', content = '']): Chapter => ({ id, title, content: render(content) }),
      ),
    );
  return { widget, api };
}

function integrityTag(publicUrl: string, { version, integrity }: ScriptBuild): Html {
  const entry = `crypto-checkout-${version}.js`;
  const chunks = Object.entries(integrity).filter(([name]) => name !== entry);
  if (chunks.length === 0)
    return html`<p>The widget has not been built on this server, so there are no hashes to show.</p>`;
  const importMap = {
    integrity: Object.fromEntries(chunks.map(([name, hash]) => [`${publicUrl}/${name}`, hash])),
  };
  return html`<pre><code>${`<script type="importmap">
${JSON.stringify(importMap, null, 2)}
</script>
<script
  type="module"
  src="${publicUrl}/${entry}"
  integrity="${integrity[entry] ?? ''}"
  crossorigin="anonymous"
></script>`}</code></pre>`;
}

function elementTables(reference: WidgetReference): Html {
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
        ${definitions(
          rows.map(([name, type, description]) => [
            html`<code>${name}</code> <span class="type">${type}</span>`,
            code(description),
          ]),
        )}`,
  )}`;
}

const errorList = html`<p><a href="docs/errors">Errors</a> explains each one and says what to do.</p>
  <dl class="parameters">
    ${(Object.keys(errorStatus) as ErrorCode[]).map(
      (name) =>
        html`<div id="error-${name}">
          <dt>
            <a href="docs/errors#${name}"><code>${name}</code></a>
            <span class="status">${String(errorStatus[name])}</span>
          </dt>
          <dd>${code(apiErrors[name].meaning)}</dd>
        </div>`,
    )}
  </dl>`;

function definitions(rows: readonly (readonly [term: Html, text: Html])[]): Html {
  return html`<dl class="parameters">
    ${rows.map(
      ([term, description]) =>
        html`<div>
          <dt>${term}</dt>
          <dd>${description}</dd>
        </div>`,
    )}
  </dl>`;
}
