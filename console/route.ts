/** Addresses of the console: `{base}/{mode}/{page}[/{id}][?filters]`, so that each page and each filter has a link to share. */
import type { Mode } from './api.js';

export interface Route {
  readonly mode: Mode;
  /** Name of the page, as in `pages.ts`. */
  readonly page: string;
  /** The record that the page is about. */
  readonly id: string | undefined;
  readonly query: URLSearchParams;
}

/** Undefined for an address without a mode, such as the console's own. */
export function parseRoute(base: string, { pathname, search }: URL | Location): Route | undefined {
  const [mode, page = 'home', id] = pathname.slice(base.length).split('/').filter(Boolean);
  if (mode !== 'test' && mode !== 'live') return undefined;
  return { mode, page, id: id && decode(id), query: new URLSearchParams(search) };
}

export type Query = Readonly<Record<string, string | number | undefined>>;

export function formatRoute(base: string, mode: Mode, page: string, id?: string, query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  const search = pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
  return `${base}/${mode}/${page}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${search}`;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
