/** The console, `{PUBLIC_URL}/console`: one document for all its pages, and the files of its build. */
import { Router } from 'express';
import { calledAs } from '../../../core/commands/help.js';
import { createKeptFiles, sendCompressed } from '../../../core/site/compressed.js';
import { html } from '../../../core/site/html.js';
import { pathOf, policyOf, sendPage } from '../../../core/site/page-frame.js';
import { pickLocale } from '../../../core/site/page-texts.js';
import { counterPage } from './counter-page.js';

/** Images: the shop's logo, and the icons of wallets. */
const policy = policyOf({
  scripts: "'self'",
  calls: "'self'",
  images: 'https: data:',
  // The preview of the widget has a Lit of its own.
  trustedTypes: "lit-html 'allow-duplicates'",
});

/** @param directory of the build: `console.js`, `console.css`, and in `chunks/` what is loaded later, with a hash in its name */
export function consolePage(publicUrl: string, directory: string): Router {
  // A proxy takes the path of PUBLIC_URL off each request.
  const path = pathOf(publicUrl);
  const read = createKeptFiles(directory);

  const router = Router();
  // Only names that a build can have, so that a request reaches no other file.
  router.get(
    /^\/console\/(console|counter|counter-worker|chunks\/[\w-][\w.-]*)\.(js|css)$/,
    async (request, response, next) => {
      const { 0: stem = '', 1: extension = '' } = request.params;
      const file = await read(`${stem}.${extension}`);
      if (!file) {
        if (stem.startsWith('chunks/')) return next();
        response.status(503).type('text').send('The console has not been built. Run "npm run build".\n');
        return;
      }
      response.set({
        'Cache-Control': stem.startsWith('chunks/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        'Cross-Origin-Resource-Policy': 'same-origin',
      });
      sendCompressed(request, response.type(extension), file);
    },
  );
  router.use(counterPage(path));
  // The script reads the name of the page from the address.
  router.get(/^\/console(\/(?!chunks\/)[\w/-]*)?$/, (_request, response) => {
    const locale = pickLocale(['en']);
    const content = html`<checkout-console
        base="${path}/console"
        api-url="${path}"
        command-line="${calledAs}"
      ></checkout-console>
      <noscript><p>${locale.texts.hosted.needsScript}</p></noscript>`;
    const head = html`<script type="module" src="${path}/console/console.js"></script>`;
    const stylesheet = `${path}/console/console.css`;
    sendPage(response, { status: 200, locale, title: 'Console', content, head, stylesheet, policy });
  });
  return router;
}
