/** The frame of a documentation page: the header, the table of contents and the script and styles that they need. */
import { html, type Html } from './html.js';

export interface DocsFrame {
  readonly title: string;
  /** For search engines. */
  readonly description: string;
  /** Leads from the page to the server's root: `` or `../`. Links are relative, to work under a proxy's path. */
  readonly root: string;
  /** In the corner of the header. */
  readonly link: { readonly href: string; readonly text: string };
  readonly filterLabel: string;
  readonly contents: readonly ContentsGroup[];
  readonly main: Html;
}

export interface ContentsGroup {
  readonly title: string;
  /** Each leads to an id on the page, as `docs.js` expects. */
  readonly links: readonly Html[];
}

export function docsFrame({ title, description, root, link, filterLabel, contents, main }: DocsFrame): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content="${description}" />
        <title>Crypto Checkout ${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${root}docs.css" />
        <script type="module" src="${root}docs.js"></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <a class="brand" href="#content">Crypto Checkout <span>${title}</span></a>
          <a class="download" href="${root}${link.href}">${link.text}</a>
        </header>
        <details class="menu" open>
          <summary>Contents</summary>
          <nav aria-label="Contents">
            <input type="search" placeholder="${filterLabel}" aria-label="${filterLabel}" hidden />
            <p role="status" class="found"></p>
            ${contents.map(contentsGroup)}
          </nav>
        </details>
        <main id="content" tabindex="-1">
          <h1>${title}</h1>
          ${main}
        </main>
      </body>
    </html> `;
}

function contentsGroup({ title, links }: ContentsGroup): Html {
  return html`<section>
    <h2>${title}</h2>
    <ul>
      ${links.map((link) => html`<li>${link}</li>`)}
    </ul>
  </section>`;
}
