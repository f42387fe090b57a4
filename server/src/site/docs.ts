/** The API's documentation: `/docs` and `/docs/errors` for people, `/openapi.json` for programs. No key is needed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Router, type Request, type Response } from 'express';
import * as z from 'zod/mini';
import { createOpenApi } from '../reference/openapi.js';
import { compress, sendCompressed, type Compressed } from './compressed.js';
import { docsPage } from './docs-page.js';
import { widgetReference } from './docs-guide.js';
import { errorsPage } from './errors-page.js';

/** Allows the pages' own script and styles, and nothing from any other origin. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const dataFile = (name: string) => new URL(`../../data/${name}`, import.meta.url);

/**
 * @param publicUrl where clients reach the server; it is in the document's `servers` and in the sample calls
 * @param widget the widget's version, and the directory that `npm run build` writes its script to
 */
export function docs(publicUrl: string, widget: { version: string; directory: string }): Router {
  const router = Router({ strict: true });
  const pages = {
    '/docs': createOnce(async () => {
      const integrity = await readIntegrity(widget.directory);
      const reference = widgetReference.parse(JSON.parse(await readFile(dataFile('widget.json'), 'utf8')));
      return Buffer.from(docsPage(publicUrl, { version: widget.version, integrity }, reference).text);
    }),
    '/docs/errors': createOnce(() => errorsPage().text),
  };
  const styles = createOnce(() => readFile(dataFile('docs.css')));
  const script = createOnce(() => readFile(dataFile('docs.js')));
  const openApi = createOnce(() => JSON.stringify(createOpenApi(publicUrl)));

  for (const [path, page] of Object.entries(pages)) {
    router.get(path, async (request, response) => {
      response.set({
        'Content-Security-Policy': policy,
        'Referrer-Policy': 'no-referrer',
        'X-Frame-Options': 'DENY',
      });
      send(request, response.type('html'), await page());
    });
    // Relative, like the links in the pages, so that it works under a proxy's path.
    const name = path.slice(path.lastIndexOf('/') + 1);
    router.get(`${path}/`, (_request, response) => response.redirect(308, `../${name}`));
  }
  router.get('/docs.css', async (request, response) => send(request, response.type('css'), await styles()));
  router.get('/docs.js', async (request, response) => {
    send(request, response.type('text/javascript'), await script());
  });
  router.get('/openapi.json', async (request, response) => {
    // API editors and client generators that run in a browser read it from other origins.
    response.set('Access-Control-Allow-Origin', '*');
    send(request, response.type('json'), await openApi());
  });
  return router;
}

/** Empty if the widget has not been built. */
async function readIntegrity(directory: string): Promise<Record<string, string>> {
  try {
    return z
      .record(z.string(), z.string())
      .parse(JSON.parse(await readFile(join(directory, 'integrity.json'), 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
}

function send(request: Request, response: Response, file: Compressed): void {
  response.set('Cache-Control', 'public, max-age=300');
  sendCompressed(request, response, file);
}

/** Creates a file on the first request and keeps it. After a failure, the next request tries again. */
function createOnce(create: () => string | Buffer | Promise<Buffer>): () => Promise<Compressed> {
  let file: Promise<Compressed> | undefined;
  return () =>
    (file ??= Promise.resolve(create())
      .then((content) => compress(Buffer.from(content)))
      .catch((error: unknown) => {
        file = undefined;
        throw error;
      }));
}
