/** Serves the flags that the countries list links to, such as `/flags/ng.svg`. */
import { Router } from 'express';

/** @param directory of the SVG files */
export function flags(directory: string): Router {
  const router = Router();
  router.get('/flags/:name', (request, response, next) => {
    const { name } = request.params;
    if (!/^[a-z]{2}\.svg$/.test(name)) return next();
    const options = {
      root: directory,
      maxAge: '7d',
      headers: {
        // An SVG that is opened directly is a document. It must not run scripts or load anything.
        'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        'X-Content-Type-Options': 'nosniff',
        'Access-Control-Allow-Origin': '*',
        'Cross-Origin-Resource-Policy': 'cross-origin',
      },
    };
    response.sendFile(name, options, (error?: Error & { status?: number }) => {
      if (error && !response.headersSent) next(error.status === 404 ? undefined : error);
    });
  });
  return router;
}
