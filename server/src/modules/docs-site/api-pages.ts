/** The API reference below `/docs/api`: a page for each resource of the contract, and every endpoint with parameters and samples. */
import { api, errorStatus, type Endpoint, type ErrorCode } from 'crypto-checkout/contract';
import { errorsOf } from '../../core/reference/errors.js';
import { parametersOf, type Parameter } from '../../core/reference/parameters.js';
import { listResources, type Described, type Resource } from '../../core/reference/resources.js';
import { publicPath, samplePath, sampleRequest, sampleResponse } from '../../core/reference/samples.js';
import { groupBy } from '../../core/shared/group-by.js';
import type { DocsPage } from './frame.js';
import { highlight } from './highlight.js';
import { code, html, Html } from '../../core/site/html.js';

/** @param publicUrl the base URL of the sample calls */
export function apiPages(publicUrl: string, described: Described): DocsPage[] {
  const pages = listResources(described).map(({ name, about, verbs }) => {
    const { title, description } = about;
    return {
      path: `docs/api/${toKebabCase(name)}`,
      title,
      group: 'API',
      render: () =>
        html`<h1 id="${toKebabCase(name)}">${title}</h1>
          <p class="lead">${description}</p>
          ${Object.entries(verbs).map(([verb, endpoint]) => article({ name, about, verb }, endpoint, publicUrl))}`,
    };
  });
  return [
    { path: 'docs/api', title: 'All endpoints', group: 'API', render: () => overview(described) },
    ...pages,
  ];
}

/** Every endpoint, by resource. */
function overview(described: Described): Html {
  return html`<h1 id="all-endpoints">All endpoints</h1>
    ${listResources(described).map(
      ({ name, about, verbs }) =>
        html`<h2 id="${toKebabCase(name)}"><a href="api/${toKebabCase(name)}">${about.title}</a></h2>
          <ul class="endpoints">
            ${Object.entries(verbs).map(
              ([verb, endpoint]) =>
                html`<li>
                  ${methodTag(endpoint)} <code>${breakable(publicPath(endpoint))}</code>
                  <a href="api/${toKebabCase(name)}#${toKebabCase(verb)}">${titleOf(about, verb)}</a>
                </li>`,
            )}
          </ul>`,
    )}`;
}

const keyNames: Readonly<Record<Endpoint['key'], string>> = {
  public: 'public or secret',
  secret: 'secret',
  none: 'none',
  session: 'none, but a session of the console',
};

/** @param call the endpoint's resource and its verb, by the names that the client has for them */
function article(
  { name, about, verb }: { readonly name: string; readonly about: Resource; readonly verb: string },
  endpoint: Endpoint,
  baseUrl: string,
): Html {
  const id = toKebabCase(verb);
  const { description, key, aliases = [] } = endpoint;
  const request = sampleRequest(endpoint, {
    baseUrl,
    path: samplePath(endpoint),
    // The samples are what a secret key sends and gets. It is valid on every endpoint.
    key: '$SECRET_KEY',
    isPretty: true,
  });
  return html`<article aria-labelledby="${id}">
    <div class="text">
      <h2 id="${id}"><a href="#${id}">${titleOf(about, verb)}</a></h2>
      <p class="path">${methodTag(endpoint)} <code>${breakable(publicPath(endpoint))}</code></p>
      <p>${code(description)}</p>
      ${aliases.map((alias) => html`<p class="quiet">Also at <code>${breakable(alias)}</code></p>`)}
      <p class="quiet">Key: ${keyNames[key]}</p>
      ${Object.hasOwn(api, name) ? html`<p class="quiet">Client: <code>client.${name}.${verb}</code></p>` : html``}
      ${parameterList(parametersOf(endpoint))} ${errorList(errorsOf(endpoint))}
    </div>
    <div class="samples">
      ${sample('Request', request, 'sh')}
      ${sample('Response', JSON.stringify(sampleResponse(endpoint), null, 2), 'json')}
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
  const places = groupBy(parameters, ({ place }) => place);
  return html`${[...places].map(
    ([place, here]) =>
      html`<h3>${placeTitles[place]}</h3>
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
        </dl>`,
  )}`;
}

function errorList(codes: readonly ErrorCode[]): Html {
  return html`<details>
    <summary>Errors</summary>
    <ul class="errors">
      ${codes.map(
        (name) =>
          html`<li>
            <span class="status">${String(errorStatus[name])}</span> <a href="../errors#${name}">${name}</a>
          </li>`,
      )}
    </ul>
  </details>`;
}

/** Long samples start collapsed. */
function sample(title: string, text: string, language: string): Html {
  const isLong = text.split('\n').length > 45;
  return html`<details class="sample" ${new Html(isLong ? '' : 'open')}>
    <summary>${title}</summary>
    <pre><code>${highlight(text, language)}</code></pre>
  </details>`;
}

/** `setCurrency` → `set-currency`. */
function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Verbs that are things of the resource's: `Transaction fee`. */
const things = new Set(['events', 'fee', 'link', 'receipts']);

/** `payments.list` → `List payments`, `payments.create` → `Create payment`, `payments.setCurrency` → `Set currency`. */
function titleOf({ title, noun }: Resource, verb: string): string {
  const words = toKebabCase(verb).replaceAll('-', ' ');
  if (things.has(verb)) return sentence(`${noun} ${words}`);
  if (verb === 'list') return `List ${title.toLowerCase()}`;
  return sentence(words.includes(' ') ? words : `${words} ${noun}`);
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
