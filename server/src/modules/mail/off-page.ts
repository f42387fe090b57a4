/** The page by which a payer ends a shop's messages, `{PUBLIC_URL}/mail/off/ID/TOKEN`. Mail programs call it with one press. */
import { Router } from 'express';
import { html } from '../../core/site/html.js';
import { localeOf, notice, pathOf, policyOf, sendPage, sendStylesheet } from '../../core/site/page-frame.js';
import type { Mail } from './mail.js';
import { fill, textsOf } from './texts.js';

const policy = policyOf({ images: 'data:', forms: "'self'" });

export function offPage(publicUrl: string, { shopOf, refuse }: Pick<Mail, 'shopOf' | 'refuse'>): Router {
  const path = `${pathOf(publicUrl)}/mail/off`;
  const page = { stylesheet: `${path}/page.css`, policy };
  const router = Router();
  router.get('/mail/off/page.css', sendStylesheet);
  // A program that looks at links must not end them: only the press does.
  router.get('/mail/off/:id/:token', async (request, response) => {
    const { id, token } = request.params;
    const locale = localeOf(request);
    const shop = await shopOf(id, token);
    const texts = textsOf(locale.language);
    const { hosted } = locale.texts;
    if (shop === undefined) {
      const content = notice(hosted.notFound, hosted.notFoundHelp);
      return sendPage(response, { ...page, locale, status: 404, title: hosted.notFound, content });
    }
    const content = html`<main class="notice">
      <h1>${texts.offHeading}</h1>
      <p>${fill(texts.offHelp, { shop })}</p>
      <form method="post"><button>${texts.offConfirm}</button></form>
    </main>`;
    sendPage(response, { ...page, locale, status: 200, title: texts.offHeading, content });
  });
  router.post('/mail/off/:id/:token', async (request, response) => {
    const { id, token } = request.params;
    const locale = localeOf(request);
    const shop = await refuse(id, token);
    const { hosted } = locale.texts;
    const text = shop === undefined ? hosted.notFoundHelp : fill(textsOf(locale.language).offDone, { shop });
    const title = shop ?? hosted.notFound;
    sendPage(response, {
      ...{ ...page, locale, status: shop === undefined ? 404 : 200, title },
      content: notice(title, text),
    });
  });
  return router;
}
