/** The documentation: `/docs` for people, `/openapi.json` for programs. No key is needed. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Router, type Request, type Response } from 'express';
import * as z from 'zod/mini';
import { createOpenApi } from '../reference/openapi.js';
import type { Described } from '../reference/resources.js';
import { compress, sendCompressed, type Compressed } from './compressed.js';
import { apiPages } from './docs-api.js';
import { docsFrame, searchIndex, type DocsPage } from './docs-frame.js';
import { listGuides, renderGuide } from './docs-guides.js';
import { pageHeaders, policyOf } from './page-frame.js';

/** Allows the pages' own script and styles, and nothing from any other origin. */
const policy = policyOf({ scripts: "'self'", images: 'data:' });

const dataFile = (name: string) => new URL(`../../data/${name}`, import.meta.url);

/** The widget's version, and the directory that `npm run build` writes its script to. */
interface Widget {
  readonly version: string;
  readonly directory: string;
}

/** @param publicUrl where clients reach the server; it is in the document's `servers` and in the sample calls */
export function docs(publicUrl: string, widget: Widget, described: Described): Router {
  const router = Router({ strict: true });
  const pages = docsPages(publicUrl, widget, described);

  for (const page of pages) {
    const file = createOnce(() => docsFrame(page, pages).text);
    router.get(`/${page.path}`, async (request, response) => {
      send(request, response.set(pageHeaders(policy)).type('html'), await file());
    });
    // Relative, like the links in the pages, so that it works under a proxy's path.
    const name = page.path.slice(page.path.lastIndexOf('/') + 1);
    router.get(`/${page.path}/`, (_request, response) => response.redirect(308, `../${name}`));
  }
  const serve = (name: string, type: string, create: () => string | Promise<Buffer>) => {
    const file = createOnce(create);
    router.get(`/${name}`, async (request, response) => send(request, response.type(type), await file()));
  };
  serve('docs.css', 'css', () => readFile(dataFile('docs.css')));
  serve('docs.js', 'js', () => readFile(dataFile('docs.js')));
  serve('docs-index.js', 'js', () => searchIndex(pages));
  const openApi = createOnce(() => JSON.stringify(createOpenApi(publicUrl, described)));
  router.get('/openapi.json', async (request, response) => {
    // API editors and client generators that run in a browser read it from other origins.
    response.set('Access-Control-Allow-Origin', '*');
    send(request, response.type('json'), await openApi());
  });
  return router;
}

/** In the order of the menu: how to start, the API's resources, and then the guides of each role. */
export function docsPages(publicUrl: string, widget: Widget, described: Described): DocsPage[] {
  const guides = listGuides(described.modules);
  const [start, ...others] = guides.map((guide) => ({
    ...guide,
    render: () => renderGuide(guide, guides, publicUrl, tagWithHashes(publicUrl, widget)),
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

function send(request: Request, response: Response, file: Compressed): void {
  response.set('Cache-Control', 'public, max-age=300');
  sendCompressed(request, response, file);
}

/** Creates a file on the first request and keeps it. After a failure, the next request tries again. */
function createOnce(create: () => string | Promise<Buffer>): () => Promise<Compressed> {
  let file: Promise<Compressed> | undefined;
  return () =>
    (file ??= (async () => compress(Buffer.from(await create())))().catch((error: unknown) => {
      file = undefined;
      throw error;
    }));
}
