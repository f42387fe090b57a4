/** The reference page: every endpoint with its parameters, samples and errors, from the contract's table. */
import { api, errorStatus, sandbox, type Endpoint, type ErrorCode } from 'crypto-checkout/contract';
import { errorsOf } from '../reference/errors.js';
import { parametersOf, type Parameter } from '../reference/parameters.js';
import { resources } from '../reference/resources.js';
import { publicPath, samplePath, sampleRequest, sampleResponse } from '../reference/samples.js';
import { guide } from './docs-guide.js';
import { code, html, Html } from './html.js';

type ResourceName = keyof typeof resources;

interface Entry {
  /** Its anchor: `customers-create`. */
  readonly id: string;
  /** Its verb for people: `Set currency`. */
  readonly title: string;
  readonly endpoint: Endpoint;
}

const tables: Readonly<Record<ResourceName, Readonly<Record<string, Endpoint>>>> = { ...api, sandbox };

const sections = (Object.keys(resources) as ResourceName[]).map((name) => ({
  id: inDashes(name),
  ...resources[name],
  entries: Object.entries(tables[name]).map(([verb, endpoint]): Entry => ({
    id: `${inDashes(name)}-${inDashes(verb)}`,
    title: inWords(verb),
    endpoint,
  })),
}));

/** @param publicUrl where the samples call */
export function docsPage(publicUrl: string): Html {
  const articles = guide(publicUrl);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content="Every endpoint of the Crypto Checkout API" />
        <title>Crypto Checkout API reference</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="docs.css" />
        <script type="module" src="docs.js"></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <a class="brand" href="#content">Crypto Checkout <span>API reference</span></a>
          <a class="download" href="openapi.json">OpenAPI 3.1</a>
        </header>
        <details class="menu" open>
          <summary>Contents</summary>
          <nav aria-label="Contents">
            <input type="search" placeholder="Filter endpoints" aria-label="Filter endpoints" hidden />
            <p role="status" class="found"></p>
            ${navGroup(
              'Guide',
              articles.map(({ id, title }) => html`<a href="#${id}">${title}</a>`),
            )}
            ${sections.map(({ title, entries }) => navGroup(title, entries.map(navLink)))}
          </nav>
        </details>
        <main id="content" tabindex="-1">
          <h1>API reference</h1>
          ${articles.map(
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
          )}
        </main>
      </body>
    </html> `;
}

function navGroup(title: string, links: readonly Html[]): Html {
  return html`<section>
    <h2>${title}</h2>
    <ul>
      ${links.map((link) => html`<li>${link}</li>`)}
    </ul>
  </section>`;
}

function navLink({ id, title, endpoint }: Entry): Html {
  return html`<a href="#${id}" data-words="${endpoint.method} ${publicPath(endpoint)}"
    ><span>${title}</span> ${methodTag(endpoint)}</a
  >`;
}

function article({ id, title, endpoint }: Entry, baseUrl: string): Html {
  const { description, key, aliases = [] } = endpoint;
  const request = sampleRequest(endpoint, {
    baseUrl,
    path: samplePath(endpoint),
    key: key === 'public' ? '$PUBLIC_KEY' : '$SECRET_KEY',
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

/** A path that may be broken before each of its slashes. */
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
            <span class="status">${String(errorStatus[name])}</span> <a href="#error-${name}">${name}</a>
          </li>`,
      )}
    </ul>
  </details>`;
}

/** Long ones are folded away. */
function sample(title: string, text: string, content: Html): Html {
  const isLong = text.split('\n').length > 45;
  return html`<details class="sample" ${new Html(isLong ? '' : 'open')}>
    <summary>${title}</summary>
    <pre><code>${content}</code></pre>
  </details>`;
}

/** JSON, and the same with its keys, texts and other values marked. */
function formatted(value: unknown): [text: string, content: Html] {
  const text = JSON.stringify(value, null, 2);
  const tokens = text.split(/("(?:[^"\\]|\\.)*"(?::)?|\b(?:true|false|null)\b|-?\d[\d.e+-]*)/);
  const marked = tokens.map((token, index) => {
    if (index % 2 === 0) return html`${token}`;
    if (token.endsWith('":')) return html`<span class="k">${token.slice(0, -1)}</span>:`;
    return html`<span class="${token.startsWith('"') ? 's' : 'v'}">${token}</span>`;
  });
  return [text, html`${marked}`];
}

/** `setCurrency` → `set-currency`. */
function inDashes(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `setCurrency` → `Set currency`. */
function inWords(name: string): string {
  const words = inDashes(name).replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
