/* global document, navigator, URL, NodeFilter, sessionStorage, innerHeight, scrollY, matchMedia, setTimeout, addEventListener -- runs in a browser */
/** Script of the docs: search through all pages, the reader's test key in the examples, copy buttons, the menu of narrow windows, and the section that is being read. */

const menu = document.querySelector('.menu');
const wide = matchMedia('(min-width: 60rem)');
const fit = () => (menu.open = wide.matches);
wide.addEventListener('change', fit);
fit();
menu.addEventListener('click', ({ target }) => {
  if (target.closest('a') && !wide.matches) menu.open = false;
});

/* Search */
const search = document.querySelector('[role="search"]');
const [field, found, results] = search.children;
search.hidden = false;

/** @type {Promise<[path: string, page: string, id: string, title: string, text: string][]> | undefined} */
let index;
/** A failed import is remembered by its address, so the next one has another. */
let attempts = 0;
const load = () =>
  (index ??= import(attempts === 0 ? './docs-index.js' : `./docs-index.js?again=${attempts}`).then(
    (module) => module.default,
    () => {
      index = undefined;
      attempts += 1;
      return undefined;
    },
  ));
field.addEventListener('focus', load);
field.addEventListener('input', show);
field.addEventListener('keydown', ({ key }) => {
  if (key === 'Enter') results.querySelector('a')?.click();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.matches('input')) return;
  event.preventDefault();
  field.focus();
});
// After the link was followed, for one that leads to a place on this page.
results.addEventListener('click', () =>
  setTimeout(() => {
    field.value = '';
    show();
  }),
);

async function show() {
  const query = field.value;
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  menu.hidden = words.length > 0;
  if (words.length > 0) found.textContent = 'Searching…';
  const sections = words.length === 0 ? [] : await load();
  if (query !== field.value) return;
  if (sections === undefined) {
    found.textContent = 'The search could not be loaded. Type on to try again.';
    return;
  }
  const hits = sections
    .map((section) => ({ section, score: score(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, 20);
  const count = hits.length === 20 ? 'The 20 best places' : `${hits.length} places`;
  found.textContent = words.length === 0 ? '' : hits.length === 1 ? '1 place' : count;
  results.replaceChildren(...hits.map(({ section }) => resultOf(section, words)));
}

/** Every word must begin a word of the section. Titles count for more than text, and text often for more than once. */
function score([, page, , title, text], words) {
  let sum = 0;
  for (const word of words) {
    const inTitle = count(title, word);
    const inPage = count(page, word);
    const inText = count(text, word);
    if (inTitle + inPage + inText === 0) return 0;
    sum += (inTitle > 0 ? 20 : 0) + (inPage > 0 ? 8 : 0) + Math.min(inText, 6);
  }
  return sum;
}

const starts = (word) =>
  new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}`, 'giu');
const count = (text, word) => (text.match(starts(word)) ?? []).length;

function resultOf([path, page, id, title, text], [word]) {
  const link = document.createElement('a');
  link.href = new URL(`${path}${id && `#${id}`}`, import.meta.url).href;
  const at = text.lastIndexOf(' ', Math.max(0, text.search(starts(word)) - 30)) + 1;
  const lines = [title, title === page ? '' : page, `${at > 0 ? '…' : ''}${text.slice(at, at + 110)}…`];
  for (const [name, line] of ['strong', 'span', 'small'].map((name, index) => [name, lines[index]])) {
    if (line === '') continue;
    const part = document.createElement(name);
    part.textContent = line;
    link.append(part, ' ');
  }
  const item = document.createElement('li');
  item.append(link);
  return item;
}

/* The reader's own test key, in this tab only, in the examples. */
const key = document.querySelector('.key');
const [, keyField, keyNote] = key.children;
key.hidden = false;
/** Undefined if the browser blocks the storage of sites. */
const kept = (() => {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
})();
const server = new URL('.', import.meta.url).href.replace(/\/$/, '');
const examples = [];
for (const code of document.querySelectorAll('pre > code')) {
  const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (/pk_test_…|\$(?:CHECKOUT_)?SECRET_KEY|\$CHECKOUT_URL/.test(node.data))
      examples.push([node, node.data]);
  }
}
function fill() {
  const value = keyField.value.trim();
  const [, kind] = /^(pk|sk)_test_[\w-]{43}$/.exec(value) ?? [];
  keyNote.textContent =
    value === '' || kind !== undefined
      ? ''
      : 'A test key begins with pk_test_ or sk_test_ and has 51 characters.';
  if (kind !== undefined) kept?.setItem(`docs-${kind}`, value);
  if (value === '') for (const one of ['pk', 'sk']) kept?.removeItem(`docs-${one}`);
  const publicKey = kept?.getItem('docs-pk') ?? undefined;
  const secretKey = kept?.getItem('docs-sk') ?? undefined;
  for (const [node, text] of examples) {
    let filled = publicKey === undefined ? text : text.replaceAll('pk_test_…', publicKey);
    if (secretKey !== undefined)
      filled = filled
        .replaceAll(/\$(?:CHECKOUT_)?SECRET_KEY/g, secretKey)
        .replaceAll('$CHECKOUT_URL', server);
    if (node.data !== filled) node.data = filled;
  }
}
keyField.addEventListener('input', fill);
keyField.value = kept?.getItem('docs-sk') ?? kept?.getItem('docs-pk') ?? '';
fill();

/* Copy buttons */
for (const code of document.querySelectorAll('pre > code')) {
  const sample = code.closest('.sample') ?? code.parentElement;
  const section = code.closest('article')?.querySelector('h2') ?? headingOf(code);
  const kind = sample.querySelector('summary')?.textContent ?? 'code';
  const title = `${section?.textContent ?? ''}: ${kind}`;
  const button = document.createElement('button');
  button.type = 'button';
  const say = (word) => {
    button.textContent = word;
    button.setAttribute('aria-label', `${word} ${title}`);
  };
  say('Copy');
  button.addEventListener('click', async () => {
    const isCopied = await navigator.clipboard.writeText(code.textContent.trimEnd()).then(
      () => true,
      () => false,
    );
    say(isCopied ? 'Copied' : 'Not copied');
  });
  button.addEventListener('blur', () => say('Copy'));
  sample.append(button);
}

/** The last heading before an element. */
function headingOf(element) {
  return [...document.querySelectorAll('main :is(h1, h2, h3)')].findLast(
    (heading) => heading.compareDocumentPosition(element) & heading.DOCUMENT_POSITION_FOLLOWING,
  );
}

/* The section that is being read: the last heading above the upper third of the window. */
const headings = [...document.querySelectorAll('main h2[id]')];
const linkTo = (heading) => menu.querySelector(`a[href="#${heading.id}"]`);
const side = menu.parentElement;
function mark() {
  const isAtEnd = scrollY > 0 && scrollY + innerHeight >= document.body.scrollHeight - 1;
  const edge = isAtEnd ? innerHeight : innerHeight / 3;
  const current = headings.findLast((heading) => heading.getBoundingClientRect().top < edge);
  for (const heading of headings) {
    if (heading === current) linkTo(heading)?.setAttribute('aria-current', 'location');
    else linkTo(heading)?.removeAttribute('aria-current');
  }
  const link = (current && linkTo(current)) ?? menu.querySelector('[aria-current="page"]');
  const { top, bottom } = link.getBoundingClientRect();
  const box = side.getBoundingClientRect();
  if (wide.matches && (top < box.top || bottom > Math.min(box.bottom, innerHeight))) {
    side.scrollTop += top - box.top - box.height / 2;
  }
}
addEventListener('scroll', mark, { passive: true });
mark();
