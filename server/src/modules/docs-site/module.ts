/** The module of the documentation: the guides and the API reference, for people. Programs read `/openapi.json` of the core. */
import { defineModule } from '../../core/module.js';
import { built } from '../../core/site/built.js';
import { docs } from './docs.js';

export const docsSite = defineModule({
  name: 'docs-site',
  create: ({ publicUrl, described }) => ({
    pages: () => ({ router: docs(publicUrl, built, described), links: { Docs: `${publicUrl}/docs` } }),
    answers: { docsUrl: (code) => `${publicUrl}/docs/errors#${code}` },
  }),
});
