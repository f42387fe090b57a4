/**
 * Keeps the counter's page and its scripts in the browser, so that a tablet without a connection can open it. It keeps no reply of
 * the API, and serves no other page of the console.
 */
interface Extendable extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetching extends Extendable {
  readonly request: Request;
  respondWith(reply: Promise<Response>): void;
}
const isExtendable = (event: Event): event is Extendable => 'waitUntil' in event;
const isFetching = (event: Event): event is Fetching => 'respondWith' in event;

// eslint-disable-next-line no-restricted-syntax -- A service worker always has it.
const open = () => caches.open('counter');
const page = new URL('./counter', location.href);
/** Files with a hash in their name never change. */
const isFixed = ({ pathname }: URL) => pathname.includes('/chunks/');
const isKept = ({ origin, pathname }: URL) =>
  origin === page.origin &&
  (pathname === page.pathname ||
    pathname.startsWith(`${page.pathname}.`) ||
    pathname.endsWith('/crypto-checkout.js') ||
    pathname.includes('/chunks/') ||
    /\/widget-[\w-]+\.js$/.test(pathname));

/** The page, and all that it names. */
async function keepAll(): Promise<void> {
  const cache = await open();
  const response = await fetch(page);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const text = await response.clone().text();
  await cache.put(page, response);
  const named = [...text.matchAll(/(?:src|href)="(\/[^"]{1,200})"/g)].flatMap(([, path]) => path ?? []);
  await cache.addAll([...new Set(named)]);
}

async function answer(request: Request, url: URL): Promise<Response> {
  const cache = await open();
  const key = url.pathname === page.pathname ? page : request;
  const kept = await cache.match(key);
  if (kept && isFixed(url)) return kept;
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(key, response.clone());
    return response;
  } catch (error) {
    if (kept) return kept;
    throw error;
  }
}

addEventListener('install', (event) => {
  if (isExtendable(event)) event.waitUntil(keepAll());
});
addEventListener('fetch', (event) => {
  if (!isFetching(event)) return;
  const { request } = event;
  const url = new URL(request.url);
  if (request.method === 'GET' && isKept(url)) event.respondWith(answer(request, url));
});
