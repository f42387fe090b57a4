/** The frame of a documentation page: the header, the search, the menu of all pages, and the styles and script that they need. */
import { html, type Html } from '../../core/site/html.js';

export interface DocsPage {
  /** Below the server's root, such as `docs/webhooks`. */
  readonly path: string;
  /** In the menu. */
  readonly title: string;
  /** The menu's heading that it is below. */
  readonly group: string;
  /** From its `<h1>` on. Headings that can be linked to have ids. */
  render(): Html;
}

type Section = ReturnType<typeof sectionsOf>[number];

/** Leads from a page to the server's root, such as `../../`: links are relative, to work under a proxy's path. */
export function rootOf({ path }: Pick<DocsPage, 'path'>): string {
  return '../'.repeat(path.split('/').length - 1);
}

export function docsFrame(page: DocsPage, pages: readonly DocsPage[]): Html {
  const root = rootOf(page);
  const main = page.render();
  const groups = [...new Set(pages.map(({ group }) => group))];
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content="Crypto Checkout documentation: ${page.title}" />
        <title>${page.title} · Crypto Checkout docs</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${root}docs.css" />
        <script type="module" src="${root}docs.js"></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <a class="brand" href="${root}docs">Crypto Checkout <span>Docs</span></a>
          <a class="download" href="${root}openapi.json">OpenAPI 3.1</a>
        </header>
        <div class="side">
          <div role="search" hidden>
            <input type="search" placeholder="Search (press /)" aria-label="Search the docs" />
            <p role="status"></p>
            <ol></ol>
          </div>
          <section class="key" aria-label="Test key" hidden>
            <label for="test-key">Your test key, for the examples</label>
            <input id="test-key" autocomplete="off" spellcheck="false" placeholder="pk_test_… or sk_test_…" />
            <p role="status"></p>
          </section>
          <details class="menu" open>
            <summary>Menu</summary>
            <nav aria-label="Documentation">
              ${groups.map((group) => menuGroup(group, pages, page, sectionsOf(main)))}
            </nav>
          </details>
        </div>
        <main id="content" tabindex="-1">${main}</main>
      </body>
    </html> `;
}

function menuGroup(
  group: string,
  pages: readonly DocsPage[],
  current: DocsPage,
  sections: readonly Section[],
): Html {
  const root = rootOf(current);
  const inPage = sections.filter(({ level }) => level === 2);
  return html`<section>
    <h2>${group}</h2>
    <ul>
      ${pages
        .filter((page) => page.group === group)
        .map((page) =>
          page === current
            ? html`<li>
                <a href="${root}${page.path}" aria-current="page">${page.title}</a>
                <ul>
                  ${inPage.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
                </ul>
              </li>`
            : html`<li><a href="${root}${page.path}">${page.title}</a></li>`,
        )}
    </ul>
  </section>`;
}

/** The data of the search: a module with `[path, title of the page, id, title, text]` for each section. */
export function searchIndex(pages: readonly DocsPage[]): string {
  const entries = pages.flatMap((page) =>
    sectionsOf(page.render()).map(({ id, title, text }) => [page.path, page.title, id, title, text]),
  );
  return `export default ${JSON.stringify(entries)};\n`;
}

/** A page cut at its headings. */
function sectionsOf({ text }: Html) {
  const parts = text.split(/<h([1-3]) id="([^"]*)"[^>]*>([^]*?)<\/h[1-3]>/);
  return Array.from({ length: (parts.length - 1) / 4 }, (_, index) => {
    const [level, id = '', title = '', content = ''] = parts.slice(index * 4 + 1, index * 4 + 5);
    return {
      /** Empty for the text before the first heading after the page's own. */
      id: level === '1' ? '' : id,
      title: plain(title),
      level: Number(level),
      // The samples repeat the names of the parameters.
      text: plain(content.replace(/<div class="samples">[^]*?(?=<\/article>)/g, '')),
    };
  });
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

function plain(markup: string): string {
  return markup
    .replace(/<[^>]+>/g, ' ')
    .replace(/&(lt|gt|quot|#39|amp);/g, (_whole, name: string) => entities[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim();
}
