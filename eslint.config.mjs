/** Lint rules: what the type checker and Prettier do not see. */
import { existsSync, readdirSync } from 'node:fs';
import eslint from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import { configs as lit } from 'eslint-plugin-lit';
// @ts-expect-error: it comes without types
import litA11y from 'eslint-plugin-lit-a11y';
import { configs as wc } from 'eslint-plugin-wc';
import tseslint from 'typescript-eslint';
import patterns from './scripts/lint-patterns.mjs';

const refusedSyntax = [
  { selector: 'TSEnumDeclaration', message: 'Use a union of string literals.' },
  { selector: 'TSModuleDeclaration[kind="namespace"]', message: 'Use a module.' },
  {
    selector: 'ObjectExpression > SpreadElement > ObjectExpression',
    message: 'Write its properties in the outer object.',
  },
];

/** Files that parse text that the database did not write. Its columns and settings have codecs: server/src/core/db/codecs.ts. */
export const parsersOfForeignJson = [
  // Requests.
  'server/src/core/api/read-body.ts',
  'server/src/modules/books/books.ts',
  // Replies of nodes and of exchanges.
  'server/src/modules/networks/rpc/node-client.ts',
  'server/src/core/money/sources/source.ts',
  // Files of operators and of wallets.
  'server/src/core/addresses/wallet-key.ts',
  'server/src/modules/treasury/key-file.ts',
  // Lines of the log.
  'server/src/core/log.ts',
  // Files of the package.
  'server/src/core/bank-accounts/banks.ts',
  'server/src/core/bank-accounts/countries.ts',
  'server/src/core/chains/presets.ts',
  'server/src/core/money/currency-list.ts',
  'server/src/modules/networks/evm/balance-reader.ts',
  'server/src/command-line/run.ts',
  'server/src/core/reference/errors.ts',
  'server/src/core/reference/samples.ts',
  'server/src/modules/docs-site/docs.ts',
  'server/src/core/site/built.ts',
  'server/src/modules/console/http/console-page.ts',
  'server/src/core/addresses/forwarder-factory.ts',
];

const ownShop =
  'server/test/support/shop.ts creates, locks and pays: use openShop, or give this a name that says what else it does.';

/** Functions of tests that look like the shop's, and do the same in another way. */
const ownShops = [
  { selector: 'FunctionDeclaration[id.name=/^(send|create|open|pay)$/]', message: ownShop },
  {
    selector:
      'VariableDeclarator[id.name=/^(send|create|open|pay)$/] > :matches(ArrowFunctionExpression, FunctionExpression).init',
    message: ownShop,
  },
];

const optionalFeature =
  'Browsers lack it, or block it: src/platform.ts tries it, and gives a working absence.';

/** Features that browsers lack or block: only src/platform.ts uses them. */
const optionalFeatures = [
  {
    selector:
      'Identifier[name=/^(BroadcastChannel|SharedWorker|Worker|Notification|localStorage|sessionStorage|indexedDB|caches|requestIdleCallback|cookieStore)$/]:not(TSTypeReference > *)',
    message: optionalFeature,
  },
  {
    selector:
      'MemberExpression[object.name="navigator"]:not([property.name=/^(language|languages|userAgent)$/]), VariableDeclarator[init.name="navigator"]',
    message: optionalFeature,
  },
  {
    selector: 'MemberExpression[object.name="Intl"]:not([property.name=/^(NumberFormat|DateTimeFormat)$/])',
    message: optionalFeature,
  },
  { selector: 'MemberExpression[property.name=/^(randomUUID|canParse)$/]', message: optionalFeature },
];

const jsonOfColumns = {
  selector: 'CallExpression[callee.object.name="JSON"][callee.property.name="parse"]',
  message:
    'Declare the column with json(shape), or the setting with jsonSetting, and read it with its codec. What parses foreign text is named in eslint.config.mjs.',
};

const units = /^(amount|balance|cost|credit|debit|difference|fee|gas|spent|used|.*_(amount|fee|value))$/;
const flags = /^(awaits|bears|is|may)_/;

/** Ways to convert a column with a codec by hand. Stores give bigints and booleans: db/values.ts. */
const convertedByHand = [
  {
    selector: `CallExpression[callee.name="BigInt"] > .arguments:matches(Identifier[name=${units}], MemberExpression[property.name=${units}])`,
    message: 'The store gives a bigint: decode the row there, with valuesOf.',
  },
  {
    selector: `BinaryExpression[operator=/^[!=]==$/]:matches([right.value=0], [right.value=1]):matches([left.name=${flags}], [left.property.name=${flags}])`,
    message: 'The store gives a boolean: decode the row there, with valuesOf.',
  },
  {
    selector: `Property[key.name=${flags}] > ConditionalExpression.value`,
    message: 'The store takes a boolean: encode the row there, with valuesOf.',
  },
];

/** Plug-ins without their packages, which `npm run test:plugins` installs: without types there is nothing to check. */
const plugins = `${import.meta.dirname}/plugins`;
const notInstalled = (existsSync(plugins) ? readdirSync(plugins) : [])
  .filter((name) => !existsSync(`${plugins}/${name}/node_modules`))
  .map((name) => `plugins/${name}/`);

export default defineConfig(
  // The examples have their own tools, and the types name frameworks that are installed only there.
  globalIgnores([
    '**/dist/',
    '**/.medusa/',
    'coverage/',
    'data/',
    '.tmp/',
    'examples/',
    'types/',
    ...notInstalled,
  ]),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  eslint.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/dot-notation': ['error', { allowIndexSignaturePropertyAccess: true }],
      // `return next(error)` is Express's own idiom.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-empty-function': ['error', { allow: ['arrowFunctions'] }],
      // A module adds its tables to the rows of the schema by an interface of nothing else.
      '@typescript-eslint/no-empty-object-type': ['error', { allowInterfaces: 'with-single-extends' }],
      // Addresses and keys are ASCII.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // An empty text counts as not given, so `||` is right for texts, and only for them.
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      // An async function without await keeps the shape of its interface, and turns a throw into a rejection.
      '@typescript-eslint/require-await': 'off',
      // `${number}` in a text is what is meant; what prints as [object Object] stays an error.
      '@typescript-eslint/restrict-plus-operands': ['error', { allowNumberAndString: true }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      // Functions that are passed around come from factories, and are closures without `this`.
      '@typescript-eslint/unbound-method': 'off',
      'no-restricted-syntax': ['error', ...refusedSyntax],
    },
  },
  {
    files: ['src/**/*.ts', 'server/src/**/*.ts', 'plugins/*/src/**/*.ts'],
    rules: { 'no-console': 'error' },
  },
  {
    // A framework's module is a class with a decorator, and often nothing else.
    files: ['plugins/*/src/**/*.ts'],
    rules: { '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }] },
  },
  {
    // A function over a constant that is declared later throws if it is called before: while the core is assembled, or when a
    // request waits for its turn.
    files: [
      'server/src/{core/core,core/hooks,core/api/limits,app,modules,server}.ts',
      'server/src/modules/*/module.ts',
    ],
    rules: {
      '@typescript-eslint/no-use-before-define': [
        'error',
        { functions: false, variables: true, allowNamedExports: false },
      ],
    },
  },
  {
    files: ['{src,claim,console}/**/*.ts'],
    ignores: ['src/platform.ts'],
    rules: { 'no-restricted-syntax': ['error', ...refusedSyntax, ...optionalFeatures] },
  },
  {
    files: ['server/src/**/*.ts'],
    ignores: ['server/src/core/db/**'],
    rules: { 'no-restricted-syntax': ['error', ...refusedSyntax, jsonOfColumns, ...convertedByHand] },
  },
  {
    files: parsersOfForeignJson,
    rules: { 'no-restricted-syntax': ['error', ...refusedSyntax, ...convertedByHand] },
  },
  {
    // It reads replies of nodes.
    files: ['server/src/modules/networks/tron/tron-dialect.ts'],
    rules: { 'no-restricted-syntax': ['error', ...refusedSyntax, jsonOfColumns] },
  },
  {
    files: ['server/test/**/*.ts'],
    ignores: [
      'server/test/support/shop.ts',
      // They call every endpoint with every key.
      'server/test/contract-walk.test.ts',
      'server/test/roles.test.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', ...refusedSyntax, ...ownShops] },
  },
  {
    // Texts that come from outside can be long, and some that seem to come from inside do not.
    files: ['{src,server/src,claim,console,demo}/**/*.{ts,mjs}'],
    plugins: { patterns },
    rules: { 'patterns/anchored': 'error' },
  },
  {
    files: ['src/**/*.ts', 'demo/**/*.ts', 'claim/**/*.ts', 'console/**/*.ts'],
    extends: [lit['flat/all'], wc['flat/best-practice'], litA11y.configs.recommended],
    settings: { wc: { elementBaseClasses: ['LitElement'] } },
    rules: {
      // Attributes are removed by `nothing`; a template in a condition or a map is what a view is made of.
      'lit/no-template-arrow': 'off',
      'lit/no-template-map': 'off',
      'lit/no-template-bind': 'off',
      // LitElement implements them all.
      'wc/guard-super-call': 'off',
    },
  },
  {
    files: ['test/**/*.browser.test.ts'],
    rules: {
      // Chai's assertions are property reads, and the types of its plugins make each `equal` a promise.
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-floating-promises': 'off',
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ExpressionStatement > CallExpression[callee.property.name="accessible"]',
          message: 'Await it: unawaited, it cannot fail the test.',
        },
      ],
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'fetch',
          'URL',
          'Buffer',
          'Headers',
          'AbortController',
          'AbortSignal',
          'performance',
          'setTimeout',
          'clearTimeout',
          'module',
          '__dirname',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  // Compiled plug-ins of Medusa.
  globalIgnores(['**/.medusa/']),
);
