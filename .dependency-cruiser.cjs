/** Allowed imports. `test/tooling/import-rules.test.ts` feeds each rule an import that breaks it. */
const { readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

/** Everything that a room may import; any other import breaks the rule. */
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

const core = '^server/src/core/';
/** Its group is the name of the module. */
const modules = '^server/src/modules/([^/]+)/';

/** Each module that requires others, and their names, as its own file declares them. */
const folder = join(__dirname, 'server/src/modules');
const requiring = readdirSync(folder).flatMap((name) => {
  const text = readFileSync(join(folder, name, 'module.ts'), 'utf8');
  const [, list = ''] = /\brequires: \[([^\]]*)\]/.exec(text) ?? [];
  const names = [...list.matchAll(/'([^']+)'/g)].map(([, required]) => required);
  return names.length === 0 ? [] : [{ name, required: names }];
});

/** The chains, each with its own kind of nodes. */
const kinds = 'server/src/modules/networks/(bitcoin|evm|tron)/';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    only('contract', 'The contract knows only zod.', '^src/contract/', zod),
    only(
      'state',
      "The state knows only the contract's types and the errors.",
      '^src/checkout/state\\.ts$',
      '^src/contract/',
      '^src/errors\\.ts$',
    ),
    only(
      'views',
      'Views only draw. They know the state, money, messages, lit and the QR encoder, but not the client or the controller. ' +
        'The drawings of coins come from the offer, which is loaded first.',
      '^src/views/',
      '^src/offer\\.ts$',
      '^src/(coins|contract|money|messages)/',
      '^src/checkout/state\\.ts$',
      lit,
      '(^|/)node_modules/qrcode/lib/core/',
    ),
    never(
      'views-types',
      'Views import only types from the contract.',
      { path: '^src/views/' },
      { path: '^src/contract/', dependencyTypesNot: ['type-only'] },
    ),
    only(
      'wallets',
      'Wallets know the contract, money, and the shape of views and states. They reach the server through the element.',
      '^src/browser-wallets/',
      '^src/(contract|money|messages)/',
      '^src/views/(view|add-styles)\\.ts$',
      '^src/checkout/(state|wallet-requests)\\.ts$',
      '^src/platform\\.ts$',
      lit,
    ),
    only(
      'transfer-check',
      'The check of a transfer knows the client, and what the views know.',
      '^src/transfer-check/',
      '^src/(client|contract|money|messages)/',
      '^src/(errors|fetch-code|lazy)\\.ts$',
      '^src/views/(view|disclosure)\\.ts$',
      '^src/checkout/order\\.ts$',
      lit,
    ),
    only(
      'money',
      'Money knows only the contract, what follows from the list of currencies, and what a browser can do.',
      '^src/money/',
      '^src/(coins|contract)/',
      '^src/platform\\.ts$',
    ),
    only(
      'messages',
      'Messages know only the contract, the errors, how money is written, and waiting.',
      '^src/messages/',
      '^src/(contract/|money/(format|price)\\.ts$|(errors|fetch-code|platform|within)\\.ts$)',
    ),
    only(
      'client',
      'The client knows only the contract and the errors.',
      '^src/client/',
      '^src/contract/',
      '^src/errors\\.ts$',
      zod,
      '(^|/)node_modules/@noble/hashes/',
    ),
    never(
      'controller',
      'The checkout draws nothing: it knows no view, no text and no element.',
      { path: '^src/checkout/' },
      { path: '^src/(views/|messages/|(crypto-checkout|crypto-checkout\\.styles|flow|index)\\.ts$)' },
    ),
    never(
      'element',
      'Only the entries import the element, for their types too, and only the one for React imports the main entry.',
      { path: '^src/', pathNot: '^src/(index|react|element-types)\\.ts$' },
      { path: '^src/(crypto-checkout|index|react)\\.ts$' },
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
      { path: '^server/src/', pathNot: '^server/src/modules/demo-shop/' },
      { path: '^src/client/' },
    ),
    never(
      'no-server',
      'Nothing imports the server. Its test nodes and mail server, what signs and sends on them, what runs built commands, and the count of rounds, which know nothing of its source, serve the end-to-end tests too.',
      { pathNot: '^server/' },
      {
        path: '^server/',
        pathNot:
          '^server/test/support/(anvil|command-line|contracts|forwarders|litecoin|mail-sink|rounds|sign-psbt)\\.ts$',
      },
    ),
    only(
      'claim',
      'The page for refunds has its own views and calls, and takes from the widget only what they share.',
      '^claim/',
      '^src/(contract|money)/',
      '^src/(crypto-checkout\\.styles|foreign-dom|platform|views/initials|browser-wallets/(discovery|provider))\\.ts$',
      '(^|/)node_modules/(vite|zod)/',
      lit,
    ),
    only(
      'console',
      'The console is one more client of the contract. It draws QR codes, amounts and its preview, and finds wallets, as the widget does.',
      '^console/',
      '^src/(contract|money)/',
      '^src/browser-wallets/(connection|discovery|provider)\\.ts$',
      '^src/client/idempotency-key\\.ts$',
      '^src/(foreign-dom|platform|messages/codes|views/qr-code)\\.ts$',
      '(^|/)node_modules/(vite|zod|@simplewebauthn/browser)/',
      lit,
    ),
    only(
      'demo',
      'The demo uses the package like a merchant: only through its entries.',
      '^demo/(?!merchant-server/)',
      '^src/(index|contract/index|client/index)\\.ts$',
      lit,
      zod,
    ),
    only(
      'demo-server',
      "A merchant's server knows only the client and the contract of this repository.",
      '^demo/merchant-server/',
      '^src/(contract|client)/index\\.ts$',
      '^(node:)?[a-z]+$',
      '(^|/)node_modules/(express|better-sqlite3)/',
      '(^|/)node_modules/@types/(express|better-sqlite3)/',
    ),
    never(
      'express',
      'Express stays in api/, site/ and ops/, and in the modules that are pages.',
      {
        path: '^server/src/',
        pathNot:
          '^server/src/(core/(api|site|ops)/|modules/(docs-site|demo-shop|console/http)/|modules/.+-page\\.ts$)',
      },
      { path: '(^|/)node_modules/(express|express-rate-limit|raw-body)/' },
    ),
    never(
      'engines',
      'The two database engines differ only in db/.',
      { path: '^server/src/', pathNot: '^server/src/core/db/' },
      { path: '(^|/)node_modules/(better-sqlite3|pg)/' },
    ),
    never(
      'assembly',
      'Only the server and the command line run the assembly. Commands name its type.',
      {
        path: '^server/src/',
        pathNot: '^server/src/((main|run-server|start|cli|app|server)\\.ts$|command-line/)',
      },
      {
        path: '^server/src/(main|run-server|start|cli|app|core/core|server)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    ),
    never(
      'api',
      'Only the server assembles the API. Handlers name the types that they answer to, and the console adds sessions to it.',
      {
        path: '^server/src/',
        pathNot:
          '^server/src/(core/api/|modules/console/http/|(app|server|core/core|core/module)\\.ts$|.+handlers\\.ts$)',
      },
      { path: '^server/src/core/api/' },
    ),
    never(
      'handlers',
      'Handlers call their rule: they know no store, database, ledger or chain, and of the API what a handler is.',
      { path: '^server/src/.+handlers\\.ts$' },
      {
        path: '^server/src/(.+store\\.ts$|core/((db|ledger|rpc|chains|scanning|addresses|ops)/|api/(?!handler\\.ts$)))',
      },
    ),
    never(
      'rules',
      'Rules know no HTTP: neither Express rooms nor handlers. Texts and markup are not HTTP.',
      {
        path: '^server/src/(core|modules)/',
        pathNot:
          '^server/src/(core/((api|site|ops|commands)/|core\\.ts$)|modules/(docs-site|demo-shop|console/http)/|.+-page\\.ts$|.+/module\\.ts$|.+handlers\\.ts$)',
      },
      { path: '^server/src/(core/(api|site(?!/(html|page-texts)\\.ts)|ops)/|.+handlers\\.ts$)' },
    ),
    never(
      'own-store',
      'A store belongs to its room; others go through the rule.',
      { path: '^server/src/((?:core|modules)/[^/]+)/' },
      { path: '^server/src/.*store\\.ts$', pathNot: '^server/src/$1/' },
    ),
    only(
      'rpc',
      'The client of nodes knows no chain, only its own report of nodes, and the form of host addresses.',
      '^server/src/modules/networks/rpc/',
      '^(src/contract|server/src/core/shared)/',
      '^server/src/core/chains/(connected|nodes-unavailable)\\.ts$',
      '^(node:)?[a-z/]+$',
      '(^|/)node_modules/ipaddr\\.js/',
    ),
    never(
      'chains',
      'Chains are read through their interface: they keep nothing, and do not know who scans them. The simulated ones are kept.',
      { path: `^(server/src/core/chains/|${kinds})` },
      { path: '^server/src/core/scanning/' },
    ),
    never(
      'chains-database',
      'Only the simulated chains are kept in the database.',
      { path: `^(server/src/core/chains/(?!simulated/)|${kinds})` },
      { path: '^server/src/core/db/' },
    ),
    never(
      'core',
      'The core imports no module, no list of modules, and nothing that assembles them.',
      { path: core },
      { path: '^server/src/', pathNot: core },
    ),
    never(
      'modules',
      'A module imports the core. One that requires no other imports none.',
      { path: modules, pathNot: requiring.map(({ name }) => `^server/src/modules/${name}/`) },
      { path: '^server/src/', pathNot: [core, '^server/src/modules/$1/'] },
    ),
    ...requiring.map(({ name, required }) =>
      never(
        `module-${name}`,
        `The module ${name} imports the core, and of the modules those that it requires.`,
        { path: `^server/src/modules/${name}/` },
        { path: '^server/src/', pathNot: [core, `^server/src/modules/(${[name, ...required].join('|')})/`] },
      ),
    ),
    never(
      'module-doors',
      'The list enters a module by its file.',
      { path: '^server/src/', pathNot: modules },
      { path: modules, pathNot: '/module\\.ts$' },
    ),
    never(
      'audit',
      'The audit reads what others wrote. Nothing depends on it but its command; modules add checks of their own.',
      { path: '^server/src/', pathNot: '^server/src/(core/(audit|commands)|command-line)/' },
      { path: '^server/src/core/audit/', pathNot: '/(flows|check-report)\\.ts$' },
    ),
    only(
      'ledger',
      'The ledger knows accounts and postings, and no payment.',
      '^server/src/core/ledger/',
      '^server/src/core/(db|shared)/',
      '(^|/)node_modules/kysely/',
    ),
    only(
      'shared',
      'The code that all rooms share depends on none of them.',
      '^server/src/core/shared/',
      '^src/contract/',
      '^(node:)?crypto$',
    ),
    never(
      'tests',
      'Shipped code imports no test and no script.',
      { path: '^(src|server/src|demo)/' },
      { path: '^(test|server/test|scripts|bench)/' },
    ),
    never(
      'dependencies',
      'Shipped code imports only existing files and the dependencies that its package.json names.',
      // React is an optional peer of this entry: only those who use it have it.
      { path: '^(src|server/src)/', pathNot: '^src/react\\.ts$' },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] },
    ),
    never('unresolvable', 'Every import leads somewhere.', {}, { couldNotResolve: true }),
    never('cycles', 'Nothing imports itself by a detour, types included.', {}, { circular: true }),
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
