/**
 * The page at `/` of a server that has no other there, and at every address that has none: links for staff and developers, and
 * the way back for a lost payer.
 */
import { Router, type RequestHandler } from 'express';
import { html } from './html.js';
import { pathOf, policyOf, sendPage, sendStylesheet } from './page-frame.js';
import { pickLocale } from './page-texts.js';

const policy = policyOf({ images: 'data:' });

/** @param links URLs by their labels */
export function startPage(publicUrl: string, links: Readonly<Record<string, string>>): Router {
  // A proxy takes the path of PUBLIC_URL off each request.
  const stylesheet = `${pathOf(publicUrl)}/start.css`;
  const items = Object.entries(links).map(([name, url]) => html` &nbsp; <a href="${url}">${name}</a>`);
  // Programs get the API's error instead.
  const show =
    (status: number, title: string, text: string): RequestHandler =>
    (request, response, next) => {
      if (request.accepts(['json', 'html']) !== 'html') return next();
      const content = html`<main class="notice">
        <h1>${title}</h1>
        <p>${text} To pay, open the link that your shop gave you.</p>
        <p>${items}</p>
      </main>`;
      sendPage(response, { status, locale: pickLocale(['en']), title, content, stylesheet, policy });
    };
  const router = Router();
  router.get('/start.css', sendStylesheet);
  router.get('/', show(200, 'Crypto checkout', 'This server takes payments for shops.'));
  router.get(/^/, show(404, 'Page not found', 'There is nothing at this address.'));
  return router;
}
