/** Serves the widget's script, its chunks and its npm package to merchants' pages and builds anywhere. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Router, type NextFunction, type Request, type Response } from 'express';
import { notBuilt, sendFile } from './page-frame.js';

/** The compressed files that `npm run build` writes next to each file, smallest first, by their suffixes. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

export interface WidgetFilesOptions {
  /** The directory that `npm run build` writes the script to. */
  readonly directory: string;
  /** The widget's npm package, as one file. */
  readonly packageFile: string;
  /** The widget's version, which is in the script's name. */
  readonly version: string;
}

/** npm dates files when it unpacks them, a file and its compressed forms one after the other: a busy machine takes long for that. */
const unpackingMs = 120_000;
const minutes = 'public, max-age=300';
const forever = 'public, max-age=31536000, immutable';

/**
 * Serves `/crypto-checkout.js`, which may change with every release, the same under the name with its version, and
 * `/widget-….js` and `/chunks/…`, whose names contain a hash. `/crypto-checkout.tgz` is what `npm install URL` installs.
 */
export function widgetFiles({ directory, packageFile, version }: WidgetFilesOptions): Router {
  const entry = `crypto-checkout-${version}.js`;

  /** The file, or the smallest compressed form of it that the client accepts. */
  async function choose(request: Request, name: string) {
    const builtAt = await modifiedAt(join(directory, name));
    for (const [encoding, suffix] of encodings) {
      if (!request.acceptsEncodings(encoding)) continue;
      // A compressed form that is older than the file belongs to another build.
      const compressedAt = await modifiedAt(join(directory, name + suffix));
      if (compressedAt >= builtAt - unpackingMs) return { file: name + suffix, encoding };
    }
    return { file: name, encoding: undefined };
  }

  /** Calls `next` if the file has not been built. @param name the path below the build directory */
  async function send(
    request: Request,
    response: Response,
    next: NextFunction,
    name: string,
    caching: string,
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
    sendFile(response, file, { root: directory, headers }, next);
  }

  const router = Router();
  const sendEntry = (caching: string) => (request: Request, response: Response, next: NextFunction) =>
    send(request, response, notBuilt(response, 'The widget', next), entry, caching);
  router.get('/crypto-checkout.js', sendEntry(minutes));
  router.get(`/${entry}`, sendEntry(forever));
  router.get(/^\/crypto-checkout-([\w.-]+)\.js$/, (_request, response) => {
    const text = `This server has version ${version}: /${entry}, or /crypto-checkout.js for whichever it has.\n`;
    response.status(404).set('Access-Control-Allow-Origin', '*').type('text').send(text);
  });
  router.get('/crypto-checkout.tgz', (_request, response, next) => {
    const headers = { 'Cache-Control': minutes, 'Content-Type': 'application/gzip' };
    sendFile(response, packageFile, { headers }, notBuilt(response, 'The widget', next));
  });
  // Only names that the build produces, so that a request cannot reach any other file. The widget asks again with a part of the
  // folder in percent codes.
  router.get(
    /^\/(widget-[\w-]+\.js(?:\.map)?|(?:[a-z]|%[67][\da-f])+\/[\w-][\w.-]*\.js(?:\.map)?)$/,
    (request, response, next) => {
      const name = request.path.slice(1).replace(/%../g, decodeURIComponent);
      if (!/^(widget-|chunks\/)/.test(name)) return next();
      return send(request, response, next, name, forever);
    },
  );
  return router;
}

/** Epoch milliseconds; before every other time if there is no such file. */
function modifiedAt(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => Number.NEGATIVE_INFINITY,
  );
}
