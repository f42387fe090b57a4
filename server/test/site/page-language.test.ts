/** The hosted page speaks the payer's language, by their browser or the address. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostedPages } from '../../src/core/site/hosted-pages.js';
import { languages, pickLocale } from '../../src/core/site/page-texts.js';

/** A language that pages have no texts in, also after some are added. */
const foreign = ['de', 'it', 'nl', 'ja'].find((tag) => !languages.includes(tag)) ?? 'no language is left';
const rightToLeft = ['ar', 'ckb', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi'];

let server: Server;
let url = '';
let widgetDirectory = '';

beforeAll(async () => {
  widgetDirectory = await mkdtemp(join(tmpdir(), 'crypto-checkout-language-'));
  await mkdir(join(widgetDirectory, 'chunks'));
  for (const name of ['flow', 'load', 'en', 'en-later', 'fr', 'fr-later', 'later'])
    await writeFile(join(widgetDirectory, 'chunks', `${name}-A1b2_-.js`), '');
  const publicUrl = 'https://pay.example';
  const payment = { merchantName: 'A & $& {shop}', mode: 'test' as const, publicKey: 'pk_test_1' };
  const pages = hostedPages({
    publicUrl,
    checkoutUrl: `${publicUrl}/pay`,
    widgetDirectory,
    findPayment: (id) =>
      Promise.resolve(
        id === 'none' ? undefined : { ...payment, id, ...(id === 'keyless' && { publicKey: undefined }) },
      ),
  });
  server = createServer(express().use(pages));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pay`;
});
afterAll(async () => {
  server.close();
  await rm(widgetDirectory, { recursive: true });
});

async function openPage(path: string, accepted = 'en'): Promise<{ page: string; reply: Response }> {
  const reply = await fetch(`${url}/${path}`, { headers: { 'Accept-Language': accepted } });
  return { page: await reply.text(), reply };
}

describe('the language of a hosted page', () => {
  it.each([
    ['p1', 'fr-CA,fr;q=0.9,en;q=0.5', '<html lang="fr-CA" dir="ltr">'],
    ['p1', `${foreign},en;q=0.4,ar-EG;q=0.8`, '<html lang="ar-EG" dir="rtl">'],
    ['p1', `${foreign}-CH,${foreign}`, '<html lang="en" dir="ltr">'],
    ['p1', '*', '<html lang="en" dir="ltr">'],
    ['p1', '"><script>', '<html lang="en" dir="ltr">'],
    ['p1', 'constructor', '<html lang="en" dir="ltr">'],
    ['p1?locale=yo', 'fr', '<html lang="yo" dir="ltr">'],
    ['p1?lang=sw-KE', 'fr', '<html lang="sw-KE" dir="ltr">'],
    ['p1?locale=tlh', 'fr', '<html lang="fr" dir="ltr">'],
    ['p1?locale=ar"onload="alert(1)', 'fr', '<html lang="fr" dir="ltr">'],
    ['p1?locale=ar&locale=zh', 'fr', '<html lang="fr" dir="ltr">'],
  ])('The language of %s for Accept-Language: %s is %s', async (path, accepted, expected) => {
    const { page, reply } = await openPage(path, accepted);
    expect(reply.status).toBe(200);
    expect(page).toContain(expected);
    expect(reply.headers.get('vary')).toContain('Accept-Language');
  });

  it('A hosted page has its language in the title, the heading and the help without scripts', async () => {
    const { page } = await openPage('p1', 'fr');
    expect(page).toContain('<title>Payer A &amp; $&amp; {shop}</title>');
    expect(page).toContain('<h1 class="unseen">Payer A &amp; $&amp; {shop}</h1>');
    expect(page).toContain('<noscript><p>Cette page a besoin de JavaScript');
  });

  it('A hosted page with nothing to pay is in the payer’s language', async () => {
    const missing = await openPage('none', 'es');
    expect(missing.reply.status).toBe(404);
    expect(missing.page).toMatch(
      /<html lang="es"[\s\S]*<title>Pago no encontrado<\/title>[\s\S]*Revisa el enlace/,
    );
    const keyless = await openPage('keyless', 'pt-BR');
    expect(keyless.reply.status).toBe(503);
    expect(keyless.page).toContain('A &amp; $&amp; {shop} não pode receber pagamentos aqui no momento');
  });

  it('The language of a hosted page is loaded together with the widget, and no other is', async () => {
    const preloaded = async (accepted: string) =>
      [...(await openPage('p1', accepted)).page.matchAll(/chunks\/([\w-]+)-A1b2_-\.js/g)].map(
        ([, name]) => name,
      );
    expect(await preloaded('fr')).toEqual(['flow', 'load', 'fr']);
    expect(await preloaded(foreign)).toEqual(['flow', 'load', 'en']);
  });

  it.each(languages)(
    '%s has every text, translated, with the shop’s name where English has it',
    (language) => {
      const english: Readonly<Record<string, string>> = pickLocale(['en']).texts.hosted;
      const { texts, isRtl } = pickLocale([language]);
      const { hosted } = texts;
      expect(isRtl).toBe(rightToLeft.includes(language));
      expect(Object.keys(hosted)).toEqual(Object.keys(english));
      for (const [key, text] of Object.entries(hosted)) {
        expect(text.includes('{shop}'), key).toBe(english[key]?.includes('{shop}'));
        if (language !== 'en') expect(text, key).not.toBe(english[key]);
      }
    },
  );
});
