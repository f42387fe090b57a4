/** The page by which a payer, or somebody of a team, ends a shop's messages, `{PUBLIC_URL}/mail/off/ID/TOKEN`. Mail programs call it with one press. */
import { Router } from 'express';
import { html } from '../../core/site/html.js';
import { localeOf, notice, pathOf, policyOf, sendPage, sendStylesheet } from '../../core/site/page-frame.js';
import type { Mail } from './mail.js';
import { fill, textsOf } from './texts.js';

const policy = policyOf({ images: 'data:', forms: "'self'" });

export function offPage(
  publicUrl: string,
  { receiverOf, refuse }: Pick<Mail, 'receiverOf' | 'refuse'>,
): Router {
  const path = `${pathOf(publicUrl)}/mail/off`;
  const page = { stylesheet: `${path}/page.css`, policy };
  const router = Router();
  router.get('/mail/off/page.css', sendStylesheet);
  // A program that follows links must not end the messages: only the press of the button does.
  router.get('/mail/off/:id/:token', async (request, response) => {
    const { id, token } = request.params;
    const locale = localeOf(request);
    const receiver = await receiverOf(id, token);
    const texts = textsOf(locale.language);
    const { hosted } = locale.texts;
    if (!receiver) {
      const content = notice(hosted.notFound, hosted.notFoundHelp);
      return sendPage(response, { ...page, locale, status: 404, title: hosted.notFound, content });
    }
    const content = html`<main class="notice">
      <h1>${texts.offHeading}</h1>
      <p>${fill(receiver.isStaff ? texts.staffOffHelp : texts.offHelp, { shop: receiver.shop })}</p>
      <form method="post"><button>${texts.offConfirm}</button></form>
    </main>`;
    sendPage(response, { ...page, locale, status: 200, title: texts.offHeading, content });
  });
  router.post('/mail/off/:id/:token', async (request, response) => {
    const { id, token } = request.params;
    const locale = localeOf(request);
    const receiver = await refuse(id, token);
    const { hosted } = locale.texts;
    const { staffOffDone, offDone } = textsOf(locale.language);
    const text = receiver
      ? fill(receiver.isStaff ? staffOffDone : offDone, { shop: receiver.shop })
      : hosted.notFoundHelp;
    const title = receiver?.shop ?? hosted.notFound;
    sendPage(response, {
      ...page,
      locale,
      status: receiver ? 200 : 404,
      title,
      content: notice(title, text),
    });
  });
  return router;
}
