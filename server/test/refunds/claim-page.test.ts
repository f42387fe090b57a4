/** The page for refunds: nobody keeps, frames or indexes it, and it speaks ten languages. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimPage } from '../../src/modules/refunds/claim-page.js';
import { daysOf, retention } from '../../src/core/shared/retention.js';
import { languages, pickLocale } from '../../src/core/site/page-texts.js';

const english = pickLocale(['en']).texts.claim;
const names = Object.keys(english) as (keyof typeof english)[];
const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();

let server: Server;
let directory = '';
let url = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-claim-'));
  const scriptFile = join(directory, 'claim.js');
  const page = claimPage('https://pay.example/shop', scriptFile);
  server = createServer(express().use(page));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/refund`;
});
afterAll(async () => {
  server.close();
  await rm(directory, { recursive: true });
});

describe('the page for refunds', () => {
  it('the page for refunds is not stored, framed, indexed or named to others, and loads only files of this server', async () => {
    const { status, headers } = await fetch(url);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-robots-tag')).toBe('noindex');
    expect(headers.get('x-frame-options')).toBe('DENY');
    const policy = headers.get('content-security-policy') ?? '';
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "form-action 'none'",
    ])
      expect(policy.split('; ')).toContain(rule);
  });

  it('the page for refunds finds its files and the API below the path of the public URL', async () => {
    const page = await (await fetch(url)).text();
    expect(page).toContain('src="/shop/refund/claim.js"');
    expect(page).toContain('href="/shop/refund/page.css"');
    expect(page).toContain('api-url="/shop"');
  });

  it('the script of the page for refunds is a 503 until it has been built', async () => {
    expect((await fetch(`${url}/claim.js`)).status).toBe(503);
    await writeFile(join(directory, 'claim.js'), 'export {};');
    const script = await fetch(`${url}/claim.js`);
    expect([script.status, await script.text()]).toEqual([200, 'export {};']);
    expect(script.headers.get('content-type')).toMatch(/javascript/);
  });

  it.each(languages)('every text for refunds is in %s, with the same values', async (language) => {
    const texts = pickLocale([language]).texts.claim;
    expect(Object.keys(texts)).toEqual(names);
    for (const name of names) {
      expect(texts[name], name).toMatch(/\S/);
      expect(placeholders(texts[name]), name).toEqual(placeholders(english[name]));
      if (language !== 'en' && name !== 'transaction') expect(texts[name], name).not.toBe(english[name]);
    }
    const page = await (await fetch(url, { headers: { 'Accept-Language': language } })).text();
    expect(page).toContain(`<title>${texts.title}</title>`);
    expect(page).toContain(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`);
  });

  it.each(languages)('the page in %s says for how many days a link is valid', async (language) => {
    const days = daysOf(retention.refundLinkMs);
    const { goneHelp } = pickLocale([language]).texts.claim;
    expect(placeholders(goneHelp)).toEqual(['{days}']);
    const page = await (await fetch(url, { headers: { 'Accept-Language': language } })).text();
    expect(page).toContain(goneHelp.replace('{days}', String(days)));
    // The noun has the form that follows 30: in Arabic, 7 days need another one.
    const forms = new Intl.PluralRules(language);
    expect(forms.select(days)).toBe(forms.select(30));
  });
});
