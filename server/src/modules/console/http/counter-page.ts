/** The counter, `{PUBLIC_URL}/console/counter`: a page of its own, which a worker keeps in a shop's tablet. It is the same for everybody. */
import { Router } from 'express';
import { built } from '../../../core/site/built.js';
import { html } from '../../../core/site/html.js';
import { policyOf, sendPage } from '../../../core/site/page-frame.js';
import { pickLocale } from '../../../core/site/page-texts.js';
import { createWidgetHead } from '../../../core/site/widget-head.js';

const policy = policyOf({
  scripts: "'self'",
  calls: "'self'",
  images: 'https: data:',
  // The default policy lets only the counter's worker through.
  trustedTypes: "default lit-html 'allow-duplicates'",
});

/** @param path of PUBLIC_URL */
export function counterPage(path: string): Router {
  const widgetHead = createWidgetHead(path, built.directory);
  const router = Router();
  router.get('/console/counter', (_request, response) => {
    const locale = pickLocale(['en']);
    const base = `${path}/console/counter`;
    sendPage(response, {
      status: 200,
      locale,
      title: 'Counter',
      policy,
      stylesheet: `${base}.css`,
      head: html`<script type="module" src="${base}.js"></script>
        ${widgetHead(locale.language)}`,
      content: html`<shop-counter api-url="${path}"></shop-counter>
        <noscript><p>${locale.texts.hosted.needsScript}</p></noscript>`,
    });
  });
  return router;
}
