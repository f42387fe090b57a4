/** The console, `{PUBLIC_URL}/console`: the document of its pages, and the files of its build. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConsoleStart } from 'crypto-checkout/contract';
import { Router, type Request } from 'express';
import * as z from 'zod/mini';
import { calledAs } from '../../../core/commands/help.js';
import { createKeptFiles, sendCompressed } from '../../../core/site/compressed.js';
import { html } from '../../../core/site/html.js';
import { pathOf, policyOf, sendPage } from '../../../core/site/page-frame.js';
import { pickLocale } from '../../../core/site/page-texts.js';
import { counterPage } from './counter-page.js';

/** Vite's list of the files of a build, by source file. */
const manifest = z.record(
  z.string(),
  z.object({ file: z.string(), imports: z._default(z.array(z.string()), []) }),
);
type Manifest = z.output<typeof manifest>;

/** Images: the shop's logo, and the icons of wallets. */
const policy = policyOf({
  scripts: "'self'",
  calls: "'self'",
  images: 'https: data:',
  // The preview of the widget has a Lit of its own.
  trustedTypes: "lit-html 'allow-duplicates'",
});

/** The page of an address. */
export interface ShownPage {
  readonly mode: string | undefined;
  readonly page: string;
  /** The id of the record that it is about, if it is about one. */
  readonly id: string | undefined;
}

/**
 * @param directory of the build: `console.js`, `console.css`, and in `chunks/` what is loaded later, with a hash in its name
 * @param startOf reads who is signed in, so that a page need not ask first
 */
export function consolePage(
  publicUrl: string,
  directory: string,
  startOf: (request: Request, shown: ShownPage) => Promise<ConsoleStart | undefined>,
): Router {
  // A proxy takes the path of PUBLIC_URL off each request.
  const path = pathOf(publicUrl);
  const read = createKeptFiles(directory);
  const readManifest = createManifest(directory);

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
  router.get(/^\/console(\/(?!chunks\/)[\w/-]*)?$/, async (request, response) => {
    const locale = pickLocale(['en']);
    const [, , mode, page = 'home', id] = request.path.split('/');
    // Without it, the script asks for the session, and says what is wrong.
    const [start, files] = await Promise.all([
      startOf(request, { mode, page, id }).catch(() => undefined),
      readManifest(),
    ]);
    const known = start ? html` start="${JSON.stringify(start)}"` : '';
    const content = html`<checkout-console
        base="${path}/console"
        api-url="${path}"
        command-line="${calledAs}"
        ${known}
      ></checkout-console>
      <noscript><p>${locale.texts.hosted.needsScript}</p></noscript>`;
    // On a slow network, each turn takes longer than the files.
    const head = html`<script type="module" src="${path}/console/console.js"></script>
      ${filesOf(files, page).map((file) => html`<link rel="modulepreload" href="${path}/console/${file}" />`)}`;
    const stylesheet = `${path}/console/console.css`;
    sendPage(response, { status: 200, locale, title: 'Console', content, head, stylesheet, policy });
  });
  return router;
}

/** Reads the list of a build's files, once; an empty one without a build. */
function createManifest(directory: string): () => Promise<Manifest> {
  let known: Manifest | undefined;
  return async () => {
    if (known) return known;
    const text = await readFile(join(directory, 'manifest.json'), 'utf8').catch(() => undefined);
    if (text === undefined) return {};
    return (known = z.parse(manifest, JSON.parse(text)));
  };
}

/** The files that the script and a page import, other than on demand. */
function filesOf(files: Manifest, page: string): readonly string[] {
  const found = new Set<string>();
  const add = (name: string) => {
    const entry = Object.hasOwn(files, name) ? files[name] : undefined;
    if (!entry || found.has(entry.file)) return;
    found.add(entry.file);
    entry.imports.forEach(add);
  };
  for (const name of ['console', `pages/${page}`]) add(`console/${name}.ts`);
  return [...found].filter((file) => file.startsWith('chunks/'));
}
