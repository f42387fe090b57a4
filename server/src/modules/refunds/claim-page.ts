/**
 * The page where a payer claims a refund, `{PUBLIC_URL}/refund#TOKEN`. The part after # never reaches this server in
 * an address.
 */
import { Router } from 'express';
import { html } from '../../core/site/html.js';
import {
  localeOf,
  notBuilt,
  pathOf,
  policyOf,
  sendFile,
  sendPage,
  sendStylesheet,
} from '../../core/site/page-frame.js';
import { daysOf, retention } from '../../core/shared/retention.js';

/** Images: the shop's logo, and the icons of wallets. */
const policy = policyOf({ scripts: "'self'", calls: "'self'", images: 'https: data:' });

const linkDays = String(daysOf(retention.refundLinkMs));

/** @param scriptFile the page's script, which the build wrote */
export function claimPage(publicUrl: string, scriptFile: string): Router {
  // A proxy takes the path of PUBLIC_URL off each request.
  const path = pathOf(publicUrl);
  const stylesheet = `${path}/refund/page.css`;
  const router = Router();
  router.get('/refund/page.css', sendStylesheet);
  router.get('/refund/claim.js', (_request, response, next) => {
    const headers = { 'X-Content-Type-Options': 'nosniff' };
    sendFile(response, scriptFile, { maxAge: 300_000, headers }, notBuilt(response, 'The page', next));
  });
  router.get('/refund', (request, response) => {
    const locale = localeOf(request);
    const { hosted, claim } = locale.texts;
    const texts = { ...claim, goneHelp: claim.goneHelp.replace('{days}', linkDays) };
    const content = html`<main>
      <h1 class="unseen">${texts.title}</h1>
      <refund-claim api-url="${path}" texts="${JSON.stringify(texts)}"></refund-claim>
      <noscript><p>${hosted.needsScript}</p></noscript>
    </main>`;
    const head = html`<script type="module" src="${path}/refund/claim.js"></script>`;
    sendPage(response, { status: 200, locale, title: texts.title, content, head, stylesheet, policy });
  });
  return router;
}
