/** Cookies of pages for payers: small secrets that a browser keeps, and no script reads. */
import type { Request, Response } from 'express';
import { setCookie } from './reply.js';

export interface Cookies {
  find(name: string): string | undefined;
  /** Sends a cookie with the reply, unless the request fails. @param options `path` as the contract has it */
  keep(name: string, value: string, options: { readonly path: string; readonly seconds: number }): void;
}

export type CookiesOf = ReturnType<typeof createCookies>;

/** @param publicUrl the URL at which clients reach the server: a proxy takes its path off each request */
export function createCookies(publicUrl: string) {
  const { protocol, pathname } = new URL(publicUrl);
  const isHttps = protocol === 'https:';
  // Browsers accept a `__Secure-` cookie only over https.
  const prefix = isHttps ? '__Secure-' : '';
  const base = pathname.replace(/\/$/, '');
  return (request: Request, response: Response): Cookies => ({
    find: (name) => cookieOf(request, prefix + name),
    keep(name, value, { path, seconds }) {
      const attributes = `Path=${base}${path}; Max-Age=${seconds}; HttpOnly; SameSite=Strict`;
      setCookie(response, `${prefix}${name}=${value}; ${attributes}${isHttps ? '; Secure' : ''}`);
    },
  });
}

export function cookieOf({ headers: { cookie = '' } }: Request, name: string): string | undefined {
  const found = cookie.split(/; */).find((pair) => pair.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}
