/* global document, navigator, IntersectionObserver, matchMedia -- runs in a browser */
/** Script of the API docs: filters the contents, copies samples, and highlights the section that is being read. */

const menu = document.querySelector('.menu');
const nav = document.querySelector('nav');
const filter = nav.querySelector('input');
const found = nav.querySelector('.found');
const links = [...nav.querySelectorAll('a')];

const wide = matchMedia('(min-width: 60rem)');
const fit = () => (menu.open = wide.matches);
wide.addEventListener('change', fit);
fit();
nav.addEventListener('click', ({ target }) => {
  if (target.closest('a') && !wide.matches) menu.open = false;
});

filter.hidden = false;
filter.addEventListener('input', () => {
  const words = filter.value.toLowerCase().split(/\s+/);
  let count = 0;
  for (const section of nav.querySelectorAll('section')) {
    const title = section.querySelector('h2').textContent;
    let isEmpty = true;
    for (const link of section.querySelectorAll('a')) {
      const text = `${title} ${link.textContent} ${link.dataset.words ?? ''}`.toLowerCase();
      const matches = words.every((word) => text.includes(word));
      link.parentElement.hidden = !matches;
      if (matches) [isEmpty, count] = [false, count + 1];
    }
    section.hidden = isEmpty;
  }
  found.textContent = filter.value === '' ? '' : count === 1 ? '1 entry' : `${count} entries`;
});

for (const sample of document.querySelectorAll('.sample')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  const title = `${sample.closest('article').querySelector('h3').textContent}: ${sample.querySelector('summary').textContent}`;
  button.setAttribute('aria-label', `Copy ${title}`);
  button.addEventListener('click', async () => {
    const text = sample.querySelector('code').textContent;
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    button.textContent = isCopied ? 'Copied' : 'Not copied';
    button.setAttribute('aria-label', `${button.textContent} ${title}`);
  });
  button.addEventListener('blur', () => {
    button.textContent = 'Copy';
    button.setAttribute('aria-label', `Copy ${title}`);
  });
  sample.append(button);
}

const targets = links.map((link) => document.getElementById(link.hash.slice(1)));
const visible = new Set();
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) visible.add(target);
      else visible.delete(target);
    }
    const current = targets.findIndex((target) => visible.has(target));
    if (current === -1) return;
    links.forEach((link, index) => {
      if (index === current) link.setAttribute('aria-current', 'location');
      else link.removeAttribute('aria-current');
    });
    if (wide.matches) {
      const { top, bottom } = links[current].getBoundingClientRect();
      const box = menu.getBoundingClientRect();
      if (top < box.top || bottom > box.bottom) menu.scrollTop += top - box.top - box.height / 2;
    }
  },
  { rootMargin: '-10% 0px -70% 0px' },
);
for (const target of targets) observer.observe(target);
