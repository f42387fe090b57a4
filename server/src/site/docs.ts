/** The API's description for programs (`/openapi.json`) and for people (`/docs`). Both are open to everybody. */
import { readFile } from 'node:fs/promises';
import { Router, type Request, type Response } from 'express';
import { createOpenApi } from '../reference/openapi.js';
import { compress, sendCompressed, type Compressed } from './compressed.js';
import { docsPage } from './docs-page.js';

/** The page's script filters, copies and marks; it needs nothing from anywhere, and neither does the rest. */
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

const fileOf = (name: string) => new URL(`../../data/${name}`, import.meta.url);

/** @param publicUrl where the world reaches this server: in the document's `servers`, and in the page's samples */
export function docs(publicUrl: string): Router {
  const router = Router({ strict: true });
  const page = kept(() => docsPage(publicUrl).text);
  const styles = kept(() => readFile(fileOf('docs.css')));
  const script = kept(() => readFile(fileOf('docs.js')));
  const openApi = kept(() => JSON.stringify(createOpenApi(publicUrl)));

  router.get('/docs', async (request, response) => {
    response.set({
      'Content-Security-Policy': policy,
      'Referrer-Policy': 'no-referrer',
      'X-Frame-Options': 'DENY',
    });
    send(request, response.type('html'), await page());
  });
  // Its links are relative, so that it also works under a path of a proxy's.
  router.get('/docs/', (_request, response) => response.redirect(308, '../docs'));
  router.get('/docs.css', async (request, response) => send(request, response.type('css'), await styles()));
  router.get('/docs.js', async (request, response) => {
    send(request, response.type('text/javascript'), await script());
  });
  router.get('/openapi.json', async (request, response) => {
    // Editors and generators of clients in a browser read it from other origins.
    response.set('Access-Control-Allow-Origin', '*');
    send(request, response.type('json'), await openApi());
  });
  return router;
}

function send(request: Request, response: Response, file: Compressed): void {
  response.set('Cache-Control', 'public, max-age=300');
  sendCompressed(request, response, file);
}

/** Makes it when it is first asked for, once; after a failure the next request tries again. */
function kept(make: () => string | Buffer | Promise<Buffer>): () => Promise<Compressed> {
  let made: Promise<Compressed> | undefined;
  return () =>
    (made ??= Promise.resolve(make())
      .then((content) => compress(Buffer.from(content)))
      .catch((error: unknown) => {
        made = undefined;
        throw error;
      }));
}
