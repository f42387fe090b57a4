/** The page at `/` of a server that has no other there: links for staff and developers, and the way back for a lost payer. */
import { Router } from 'express';
import { html } from './html.js';
import { pathOf, policyOf, sendPage, sendStylesheet } from './page-frame.js';
import { pickLocale } from './page-texts.js';

const policy = policyOf({ images: 'data:' });

/** @param links URLs by their labels */
export function startPage(publicUrl: string, links: Readonly<Record<string, string>>): Router {
  // A proxy takes the path of PUBLIC_URL off each request.
  const stylesheet = `${pathOf(publicUrl)}/start.css`;
  const title = 'Crypto checkout';
  const items = Object.entries(links).map(([name, url]) => html` &nbsp; <a href="${url}">${name}</a>`);
  const content = html`<main class="notice">
    <h1>${title}</h1>
    <p>This server takes payments for shops. To pay, open the link that your shop gave you.</p>
    <p>${items}</p>
  </main>`;
  const router = Router();
  router.get('/start.css', sendStylesheet);
  router.get('/', (request, response, next) => {
    if (request.accepts(['json', 'html']) !== 'html') return next();
    sendPage(response, { status: 200, locale: pickLocale(['en']), title, content, stylesheet, policy });
  });
  return router;
}
