/** The documentation at `/docs`. No key is needed. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Router } from 'express';
import * as z from 'zod/mini';
import { describeVariables } from '../../core/config.js';
import type { Described } from '../../core/reference/resources.js';
import { createMade, sendMade } from '../../core/site/compressed.js';
import { apiPages } from './api-pages.js';
import { docsFrame, searchIndex, type DocsPage } from './frame.js';
import { listGuides, renderGuide } from './guides.js';
import { pageHeaders, policyOf, stylesheetOf } from '../../core/site/page-frame.js';

/** Allows the pages' own script and styles, and nothing from any other origin. */
const policy = policyOf({ scripts: "'self'", images: 'data:' });

const dataFile = (name: string) => new URL(`../../../data/${name}`, import.meta.url);

/** The widget's version, and the directory that `npm run build` writes its script to. */
interface Widget {
  readonly version: string;
  readonly directory: string;
}

/** @param publicUrl the URL at which clients reach the server; it is in the sample calls */
export function docs(publicUrl: string, widget: Widget, described: Described): Router {
  const router = Router({ strict: true });
  const pages = docsPages(publicUrl, widget, described);

  for (const page of pages) {
    const file = createMade(() => docsFrame(page, pages).text);
    router.get(`/${page.path}`, async (request, response) => {
      sendMade(request, response.set(pageHeaders(policy)).type('html'), await file());
    });
    // Relative, like the links in the pages, so that it works under a proxy's path.
    const name = page.path.slice(page.path.lastIndexOf('/') + 1);
    router.get(`/${page.path}/`, (_request, response) => response.redirect(308, `../${name}`));
  }
  const serve = (name: string, type: string, create: () => string | Promise<Buffer>) => {
    const file = createMade(create);
    router.get(`/${name}`, async (request, response) => sendMade(request, response.type(type), await file()));
  };
  router.get('/docs.css', stylesheetOf(fileURLToPath(dataFile('docs.css'))));
  serve('docs.js', 'js', () => readFile(dataFile('docs.js')));
  serve('docs-index.js', 'js', () => searchIndex(pages));
  // Its many routes would take most of the time of a request for any other page.
  return Router().use((request, response, next) =>
    request.path.startsWith('/docs') ? router(request, response, next) : next(),
  );
}

/** In the order of the menu: how to start, the API's resources, and then the guides of each role. */
export function docsPages(publicUrl: string, widget: Widget, described: Described): DocsPage[] {
  const { modules } = described;
  const guides = listGuides(modules);
  const settings = describeVariables(described.settings);
  const [start, ...others] = guides.map((guide) => ({
    ...guide,
    render: () =>
      renderGuide(guide, guides, publicUrl, { tag: tagWithHashes(publicUrl, widget), settings, modules }),
  }));
  return [...(start ? [start] : []), ...apiPages(publicUrl, described), ...others];
}

/** The script's tag with the hash of each of its files; undefined if the widget has not been built. */
function tagWithHashes(publicUrl: string, { version, directory }: Widget): string | undefined {
  const hashes = readIntegrity(directory);
  if (hashes === undefined) return undefined;
  const entry = `crypto-checkout-${version}.js`;
  const chunks = Object.entries(hashes).filter(([name]) => name !== entry);
  const integrity = Object.fromEntries(chunks.map(([name, hash]) => [`${publicUrl}/${name}`, hash]));
  return `<script type="importmap">
${JSON.stringify({ integrity }, null, 2)}
</script>
<script
  type="module"
  src="${publicUrl}/${entry}"
  integrity="${hashes[entry] ?? ''}"
  crossorigin="anonymous"
></script>
`;
}

function readIntegrity(directory: string): Record<string, string> | undefined {
  try {
    const text = readFileSync(join(directory, 'integrity.json'), 'utf8');
    return z.record(z.string(), z.string()).parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
