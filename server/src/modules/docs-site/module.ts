/** The module of the documentation: the guides and the API reference, for people. Programs read `/openapi.json` of the core. */
import { defineModule } from '../../core/module.js';
import { built } from '../../core/site/built.js';

export const docsSite = defineModule({
  name: 'docs-site',
  create: ({ publicUrl, described }) => ({
    async pages() {
      // Commands have no pages, and start in half the time without their code.
      const { docs } = await import('./docs.js');
      return { router: docs(publicUrl, built, described), links: { Docs: `${publicUrl}/docs` } };
    },
    answers: { docsUrl: (code) => `${publicUrl}/docs/errors#${code}` },
  }),
});
