/** The flags of the countries list: `/flags/ng.svg`. */
import { Router } from 'express';

/** @param directory where the SVG files are */
export function flags(directory: string): Router {
  const router = Router();
  router.get('/flags/:name', (request, response, next) => {
    const { name } = request.params;
    if (!/^[a-z]{2}\.svg$/.test(name)) return next();
    const options = {
      root: directory,
      maxAge: '7d',
      headers: {
        // An SVG that is opened by itself is a document: it may run nothing and load nothing.
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
