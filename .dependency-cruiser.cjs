/** Who may import whom. `test/tooling/import-rules.test.ts` feeds each rule an import that breaks it. */

/** Everything a room may import; whatever else it does import breaks the rule. */
const only = (name, comment, from, ...allowed) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { pathNot: [from, ...allowed] },
});

const never = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

const zod = '(^|/)node_modules/zod/';
const lit = '(^|/)node_modules/(lit|lit-html|lit-element|@lit/[^/]+)/';

/** Rooms of the server that are no resource. */
const infrastructure = 'http|db|jobs';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    only('contract', 'The contract knows zod alone.', '^src/contract/', zod),
    only(
      'state',
      "The state knows the contract's shapes and the errors.",
      '^src/state\\.ts$',
      '^src/contract/',
      '^src/errors\\.ts$',
    ),
    only(
      'views',
      'Views draw: they know state, money, messages and lit; never the client or the controller.',
      '^src/views/',
      '^src/(contract|money|messages)/',
      '^src/state\\.ts$',
      lit,
    ),
    never(
      'views-types',
      'What a view knows of the contract is its types.',
      { path: '^src/views/' },
      { path: '^src/contract/', dependencyTypesNot: ['type-only'] },
    ),
    only('money', 'Money is pure.', '^src/money/', '^src/contract/'),
    only('messages', 'Texts are texts.', '^src/messages/', '^src/(contract/|errors\\.ts$)'),
    only(
      'client',
      'The client knows the contract and the errors.',
      '^src/client/',
      '^src/contract/',
      '^src/errors\\.ts$',
      zod,
      '(^|/)node_modules/standardwebhooks/',
    ),
    never(
      'controller',
      'The controller and what it is made of draw nothing and know no element.',
      { path: '^src/(checkout-controller|order|pacer|payment-memory|polling|server-clock)\\.ts$' },
      { path: '^src/(views/|messages/|(crypto-checkout|crypto-checkout\\.styles|flow|index)\\.ts$)' },
    ),
    never(
      'element',
      'The element is the top: only its entry imports it, and nothing imports the entry.',
      { path: '^src/', pathNot: '^src/index\\.ts$' },
      { path: '^src/(crypto-checkout|index)\\.ts$' },
    ),
    never(
      'server-elements',
      'The server shares the contract, and never loads an element.',
      { path: '^server/' },
      { path: '^src/(?!contract/|client/)' },
    ),
    never(
      'server-client',
      "The API does not call itself: only the demo shop, which stands for a merchant's server, uses the client.",
      { path: '^server/src/', pathNot: '^server/src/http/demo-shop\\.ts$' },
      { path: '^src/client/' },
    ),
    never('no-server', 'Nothing imports the server.', { pathNot: '^server/' }, { path: '^server/' }),
    only(
      'demo',
      'The demo uses the package as a merchant does, by its entries.',
      '^demo/(?!merchant-server/)',
      '^src/(index|contract/index|client/index)\\.ts$',
      lit,
      zod,
    ),
    only(
      'demo-server',
      "A merchant's server knows the client and the contract, and nothing of this repository beside them.",
      '^demo/merchant-server/',
      '^src/(contract|client)/index\\.ts$',
      '^(node:)?[a-z]+$',
      '(^|/)node_modules/(express|better-sqlite3)/',
      '(^|/)node_modules/@types/(express|better-sqlite3)/',
    ),
    never(
      'express',
      'Express lives in http/, app and main.',
      { path: '^server/src/', pathNot: '^server/src/(http/|(app|main)\\.ts$)' },
      { path: '(^|/)node_modules/(express|express-rate-limit|helmet|cors)/' },
    ),
    never(
      'engines',
      'The two database engines differ in db/ alone.',
      { path: '^server/src/', pathNot: '^server/src/db/' },
      { path: '(^|/)node_modules/(better-sqlite3|pg)/' },
    ),
    never(
      'assembly',
      'Only main and app assemble: nothing else imports them, nor what they put together.',
      { path: '^server/src/', pathNot: '^server/src/((main|app|handlers|services)\\.ts$|http/site\\.ts$)' },
      { path: '^server/src/(main|app|handlers|services)\\.ts$' },
    ),
    never(
      'routes',
      'Handlers call rules: they know no store, database, ledger or chain.',
      { path: '^server/src/[^/]+/routes\\.ts$', pathNot: '^server/src/http/' },
      { path: '^server/src/([^/]+/store\\.ts$|(db|ledger|chains|jobs)/)' },
    ),
    never(
      'rules',
      'Rules know no HTTP; of its handlers they may name the types.',
      { path: `^server/src/(?!${infrastructure})[^/]+/`, pathNot: '/routes\\.ts$' },
      { path: '^server/src/(http/|[^/]+/routes\\.ts$)', dependencyTypesNot: ['type-only'] },
    ),
    never(
      'own-store',
      "A store and its routes are its resource's own; others go through the rule.",
      { path: '^server/src/([^/]+)/' },
      { path: '^server/src/(?!http/)[^/]+/(store|routes)\\.ts$', pathNot: '^server/src/$1/' },
    ),
    never(
      'jobs',
      'Jobs call rules, by a clock instead of HTTP.',
      { path: '^server/src/jobs/' },
      { path: '^server/src/(http/|[^/]+/(store|routes)\\.ts$)' },
    ),
    never(
      'tests',
      'What is shipped imports no test and no script.',
      { path: '^(src|server/src|demo)/' },
      { path: '^(test|server/test|scripts|bench)/' },
    ),
    never(
      'dependencies',
      'What is shipped imports what its package.json names as a dependency, and what is there.',
      { path: '^(src|server/src)/' },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] },
    ),
    never('unresolvable', 'Every import leads somewhere.', {}, { couldNotResolve: true }),
    never(
      'cycles',
      'Nothing imports itself by a detour; types may.',
      {},
      { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    detectJSDocImports: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@crypto-checkout/source', 'import', 'types', 'node', 'default'],
    },
  },
};
