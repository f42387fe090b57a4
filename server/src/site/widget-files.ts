/** Serves the widget's script and its chunks, as merchants' pages on other origins load them. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Router, type Request, type Response } from 'express';
import { compress, sendCompressed, type Compressed } from './compressed.js';

interface BuiltFile extends Compressed {
  readonly modifiedAt: number;
}

const entry = 'crypto-checkout.min.js';

/**
 * `/crypto-checkout.js`, which may change with every release, and `/chunks/…`, whose names carry their hash.
 * @param directory where `npm run build` put the widget
 */
export function widgetFiles(directory: string): Router {
  const files = new Map<string, BuiltFile>();

  /** The file as it is on the disk now, or undefined where the build has not made it. */
  async function read(name: string): Promise<BuiltFile | undefined> {
    const path = join(directory, name);
    try {
      const { mtimeMs: modifiedAt } = await stat(path);
      const known = files.get(name);
      if (known?.modifiedAt === modifiedAt) return known;
      const file = { modifiedAt, ...(await compress(await readFile(path))) };
      files.set(name, file);
      return file;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }

  const router = Router();
  router.get('/crypto-checkout.js', async (request, response) => {
    const file = await read(entry);
    if (file) send(request, response, file, 'text/javascript', 'public, max-age=300');
    else response.status(503).type('text').send('The widget is not built yet: run "npm run build".\n');
  });
  router.get('/crypto-checkout.min.js.map', async (request, response, next) => {
    const file = await read(`${entry}.map`);
    if (file) send(request, response, file, 'application/json', 'public, max-age=300');
    else next();
  });
  router.get('/chunks/:name', async (request, response, next) => {
    const { name } = request.params;
    // Only names that the build gives: whatever else was asked for is nobody's file.
    const file = /^[\w-][\w.-]*\.js(\.map)?$/.test(name) ? await read(join('chunks', name)) : undefined;
    if (!file) return next();
    const type = name.endsWith('.map') ? 'application/json' : 'text/javascript';
    send(request, response, file, type, 'public, max-age=31536000, immutable');
  });
  return router;
}

function send(request: Request, response: Response, file: BuiltFile, type: string, caching: string): void {
  response.set({
    'Access-Control-Allow-Origin': '*',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Cache-Control': caching,
  });
  response.type(type);
  sendCompressed(request, response, file);
}
