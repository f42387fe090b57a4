/** The API reference at `/docs`: every endpoint of the contract with its parameters, samples and errors. */
import { api, errorStatus, sandbox, type Endpoint, type ErrorCode } from 'crypto-checkout/contract';
import { errorsOf } from '../reference/errors.js';
import { parametersOf, type Parameter } from '../reference/parameters.js';
import { resources } from '../reference/resources.js';
import { publicPath, samplePath, sampleRequest, sampleResponse } from '../reference/samples.js';
import { docsFrame } from './docs-frame.js';
import { createGuide, type Chapter, type ScriptBuild, type WidgetReference } from './docs-guide.js';
import { code, html, Html } from './html.js';

type ResourceName = keyof typeof resources;

interface Entry {
  /** The anchor, such as `customers-create`. */
  readonly id: string;
  /** The verb as a title, such as `Set currency`. */
  readonly title: string;
  readonly endpoint: Endpoint;
}

const tables: Readonly<Record<ResourceName, Readonly<Record<string, Endpoint>>>> = { ...api, sandbox };

const sections = (Object.keys(resources) as ResourceName[]).map((name) => ({
  id: toKebabCase(name),
  ...resources[name],
  entries: Object.entries(tables[name]).map(([verb, endpoint]): Entry => ({
    id: `${toKebabCase(name)}-${toKebabCase(verb)}`,
    title: toTitle(verb),
    endpoint,
  })),
}));

/** @param publicUrl the base URL of the sample calls */
export function docsPage(publicUrl: string, script: ScriptBuild, reference: WidgetReference): Html {
  const guide = createGuide(publicUrl, script, reference);
  const links = (chapters: readonly Chapter[]) =>
    chapters.map(({ id, title }) => html`<a href="#${id}">${title}</a>`);
  return docsFrame({
    title: 'API reference',
    description: 'Every endpoint of the Crypto Checkout API',
    root: '',
    link: { href: 'openapi.json', text: 'OpenAPI 3.1' },
    filterLabel: 'Filter endpoints',
    contents: [
      { title: 'Widget', links: links(guide.widget) },
      { title: 'API', links: links(guide.api) },
      ...sections.map(({ title, entries }) => ({ title, links: entries.map(endpointLink) })),
    ],
    main: html`${[...guide.widget, ...guide.api].map(
      ({ id, title, content }) =>
        html`<section id="${id}" class="guide">
          <h2>${title}</h2>
          ${content}
        </section>`,
    )}
    ${sections.map(
      ({ id, title, description, entries }) =>
        html`<section id="${id}">
          <h2>${title}</h2>
          <p class="lead">${description}</p>
          ${entries.map((entry) => article(entry, publicUrl))}
        </section>`,
    )}`,
  });
}

function endpointLink({ id, title, endpoint }: Entry): Html {
  return html`<a href="#${id}" data-words="${endpoint.method} ${publicPath(endpoint)}"
    ><span>${title}</span> ${methodTag(endpoint)}</a
  >`;
}

function article({ id, title, endpoint }: Entry, baseUrl: string): Html {
  const { description, key, aliases = [] } = endpoint;
  const request = sampleRequest(endpoint, {
    baseUrl,
    path: samplePath(endpoint),
    // The samples are what a secret key sends and gets. It is valid on every endpoint.
    key: '$SECRET_KEY',
    isPretty: true,
  });
  return html`<article id="${id}" aria-labelledby="${id}-title">
    <div class="text">
      <h3 id="${id}-title"><a href="#${id}">${title}</a></h3>
      <p class="path">${methodTag(endpoint)} <code>${breakable(publicPath(endpoint))}</code></p>
      <p>${code(description)}</p>
      ${aliases.map((alias) => html`<p class="quiet">Also at <code>${breakable(alias)}</code></p>`)}
      <p class="quiet">Key: ${key === 'public' ? 'public or secret' : 'secret'}</p>
      ${parameterList(parametersOf(endpoint))} ${errorList(errorsOf(endpoint))}
    </div>
    <div class="samples">
      ${sample('Request', request, html`${request}`)}
      ${sample('Response', ...formatted(sampleResponse(endpoint)))}
    </div>
  </article>`;
}

function methodTag({ method }: Endpoint): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

/** A path that may wrap before each slash. */
function breakable(path: string): Html {
  return html`${path.split('/').map((segment, index) => (index === 0 ? html`` : html`<wbr />/${segment}`))}`;
}

const placeTitles = { path: 'Path', query: 'Query', body: 'Body' } as const;

function parameterList(parameters: readonly Parameter[]): Html {
  const places = ['path', 'query', 'body'] as const;
  return html`${places.map((place) => {
    const here = parameters.filter((parameter) => parameter.place === place);
    if (here.length === 0) return html``;
    return html`<h4>${placeTitles[place]}</h4>
      <dl class="parameters">
        ${here.map(
          ({ name, type, isRequired, description }) =>
            html`<div>
              <dt>
                <code>${name}</code> <span class="type">${type}</span>
                ${isRequired ? html`<span class="required">required</span>` : html``}
              </dt>
              <dd>${code(description)}</dd>
            </div>`,
        )}
      </dl>`;
  })}`;
}

function errorList(codes: readonly ErrorCode[]): Html {
  return html`<details>
    <summary>Errors</summary>
    <ul class="errors">
      ${codes.map(
        (name) =>
          html`<li>
            <span class="status">${String(errorStatus[name])}</span> <a href="docs/errors#${name}">${name}</a>
          </li>`,
      )}
    </ul>
  </details>`;
}

/** Long samples start collapsed. */
function sample(title: string, text: string, content: Html): Html {
  const isLong = text.split('\n').length > 45;
  return html`<details class="sample" ${new Html(isLong ? '' : 'open')}>
    <summary>${title}</summary>
    <pre><code>${content}</code></pre>
  </details>`;
}

/** A value as JSON, plain and with its keys, strings and other values highlighted. */
function formatted(value: unknown): [text: string, content: Html] {
  const text = JSON.stringify(value, null, 2);
  const tokens = text.split(/("(?:[^"\\]|\\.)*"(?::)?|\b(?:true|false|null)\b|-?\d[\d.e+-]*)/);
  const highlighted = tokens.map((token, index) => {
    if (index % 2 === 0) return html`${token}`;
    if (token.endsWith('":')) return html`<span class="k">${token.slice(0, -1)}</span>:`;
    return html`<span class="${token.startsWith('"') ? 's' : 'v'}">${token}</span>`;
  });
  return [text, html`${highlighted}`];
}

/** `setCurrency` → `set-currency`. */
function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `setCurrency` → `Set currency`. */
function toTitle(name: string): string {
  const words = toKebabCase(name).replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
