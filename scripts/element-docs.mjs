/**
 * Writes the documentation of the element in `custom-elements.json` to `docs/element.md`. With `--check`, it only
 * compares.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { argv } from 'node:process';
import { format, resolveConfig } from 'prettier';

/** @typedef {readonly [name: string, type: string, description: string]} Entry */

const root = resolve(import.meta.dirname, '..');

/** @param {string} path */
const read = (path) => readFile(join(root, path), 'utf8');

const { modules } = JSON.parse(await read('custom-elements.json'));
/** @type {any} */
const element = modules
  .flatMap((/** @type {{ declarations?: unknown[] }} */ { declarations = [] }) => declarations)
  .find((/** @type {{ tagName?: string }} */ { tagName }) => tagName === 'crypto-checkout');

/** @param {string | undefined} type such as `string | undefined` */
const short = (type = '') => type.replace(/ \| undefined$/, '').replaceAll("'", '');

/** @param {any[]} members @returns {Entry[]} */
const entries = (members) =>
  members.map(({ name, type, description = '' }) => {
    if (description === '') throw new Error(`${name} has no description`);
    return [name, short(type?.text), description.replaceAll(/\s+/g, ' ')];
  });

/** @type {any[]} */
const members = element.members.filter((/** @type {any} */ { static: isStatic }) => !isStatic);
/** @type {any[]} */
const methods = members.filter(({ kind }) => kind === 'method');
const reference = {
  attributes: entries(element.attributes),
  properties: entries(members.filter(({ kind, attribute }) => kind === 'field' && !attribute)),
  methods: entries(methods).map(
    ([name, , description]) => /** @type {Entry} */ ([`${name}()`, '', description]),
  ),
  events: entries(element.events).map(
    ([name, type, description]) => /** @type {Entry} */ ([name, type, description]),
  ),
  slots: entries(element.slots),
  parts: entries(element.cssParts),
  tokens: entries(element.cssProperties),
};

/** @param {string} first @param {readonly Entry[]} list */
function markdown(first, list) {
  const hasTypes = list.some(([, type]) => type !== '');
  const head = hasTypes ? [first, 'Type', 'What it is'] : [first, 'What it is'];
  const cell = (/** @type {string} */ text) => text.replaceAll('|', '\\|');
  const rows = list.map(([name, type, description]) => [
    `\`${name}\``,
    ...(hasTypes ? [type && `\`${cell(type)}\``] : []),
    cell(description),
  ]);
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const page = `# The element

How to use it is in [widget.md](widget.md), [modal-forms-wallets.md](modal-forms-wallets.md) and [frameworks.md](frameworks.md).

## Attributes

Each is also a property, in camel case: \`base-currency\` is \`baseCurrency\`.

${markdown('Attribute', reference.attributes)}

## Properties

${markdown('Property', reference.properties)}

## Methods

${markdown('Method', reference.methods)}

## Events

They bubble, and cross shadow roots. [States](widget.md#states) says when each one fires. The package exports them as
\`checkoutEvents\`, by name with their classes, for code that listens to all of them.

${markdown('Event', reference.events)}

## Slots

${markdown('Slot', reference.slots)}

## Parts

For \`crypto-checkout::part(name)\` in your CSS.

${markdown('Part', reference.parts)}

## Custom properties

${markdown('Property', reference.tokens)}
`;

const config = (await resolveConfig(join(root, 'package.json'))) ?? {};
const target = 'docs/element.md';
const text = await format(page, { ...config, parser: 'markdown' });
if (!argv.includes('--check')) await writeFile(join(root, target), text);
else if ((await read(target).catch(() => '')) !== text) {
  console.log(`${target} is out of date`);
  process.exitCode = 1;
}
