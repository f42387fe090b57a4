/** Serves the widget's script and its chunks to merchants' pages on any origin. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Router, type NextFunction, type Request, type Response } from 'express';

const entry = 'crypto-checkout.min.js';

/** The suffixes of the compressed files that `npm run build` writes next to each file, smallest first. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

interface BuiltFile {
  /** The path below the build directory. */
  readonly name: string;
  readonly caching: string;
}

/**
 * Serves `/crypto-checkout.js`, which may change with every release, and `/chunks/…`, whose names contain a hash.
 * @param directory that `npm run build` writes the widget to
 */
export function widgetFiles(directory: string): Router {
  /** The file, or the smallest compressed form of it that the client accepts. */
  async function choose(request: Request, name: string) {
    const builtAt = await modifiedAt(join(directory, name));
    for (const [encoding, suffix] of encodings) {
      if (!request.acceptsEncodings(encoding)) continue;
      // A compressed form that is older than the file belongs to another build.
      const compressedAt = await modifiedAt(join(directory, name + suffix));
      if (compressedAt >= builtAt) return { file: name + suffix, encoding };
    }
    return { file: name, encoding: undefined };
  }

  /** Calls `next` if the file has not been built. */
  async function send(
    request: Request,
    response: Response,
    next: NextFunction,
    { name, caching }: BuiltFile,
  ): Promise<void> {
    const { file, encoding } = await choose(request, name);
    const headers = {
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Cache-Control': caching,
      'Content-Type': name.endsWith('.map') ? 'application/json' : 'text/javascript; charset=utf-8',
      Vary: 'Accept-Encoding',
      'X-Content-Type-Options': 'nosniff',
      ...(encoding && { 'Content-Encoding': encoding }),
    };
    response.sendFile(file, { root: directory, headers }, (error?: Error & { status?: number }) => {
      if (error && !response.headersSent) next(error.status === 404 ? undefined : error);
    });
  }

  const router = Router();
  router.get('/crypto-checkout.js', (request, response, next) => {
    const notBuilt = () => {
      response.status(503).type('text').send('The widget has not been built. Run "npm run build".\n');
    };
    return send(request, response, (error?: unknown) => (error === undefined ? notBuilt() : next(error)), {
      name: entry,
      caching: 'public, max-age=300',
    });
  });
  router.get('/crypto-checkout.min.js.map', (request, response, next) =>
    send(request, response, next, { name: `${entry}.map`, caching: 'public, max-age=300' }),
  );
  router.get('/chunks/:name', (request, response, next) => {
    const { name } = request.params;
    // Only names that the build produces, so that a request cannot reach any other file.
    if (!/^[\w-][\w.-]*\.js(\.map)?$/.test(name)) return next();
    return send(request, response, next, {
      name: `chunks/${name}`,
      caching: 'public, max-age=31536000, immutable',
    });
  });
  return router;
}

/** Epoch milliseconds; before every other time if there is no such file. */
async function modifiedAt(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}
