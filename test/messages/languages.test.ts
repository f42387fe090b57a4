/** Every language has every text, with the same values in it; every text is used; and no view has a text of its own. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { logCode } from '../../src/contract/payment-record.js';
import { codes } from '../../src/messages/codes.js';
import { enAfterQr } from '../../src/messages/en-after-qr.js';
import { enOffer } from '../../src/messages/en-offer.js';
import { enTransfer } from '../../src/messages/en-transfer.js';
import { en, type Text } from '../../src/messages/en.js';
import { fill } from '../../src/messages/fill.js';
import { isolate, loadLanguage } from '../../src/messages/load.js';
import { loadTransferTexts } from '../../src/messages/load-transfer.js';
import { translations } from '../../src/messages/sources.js';
import { translations as transferTranslations } from '../../src/messages/transfer-sources.js';

/** A language of the world that has no texts here, also after some are added. */
const foreign = ['de-AT', 'it-CH', 'nl-BE', 'ja-JP'].find(
  (tag) => !codes.some((code) => tag.startsWith(code)),
);
const source = (path: string) => join(import.meta.dirname, '../../src', path);
const english: Readonly<Record<string, Text>> = { ...en, ...enOffer, ...enAfterQr, ...enTransfer };
const keys = Object.keys(english);

async function textsOf(tag: string): Promise<Readonly<Record<string, Text>>> {
  const language = await loadLanguage(tag);
  return { ...language.texts, ...(await language.loadAfterQr()), ...(await loadTransferTexts(language)) };
}

/** Texts with a count. Each has a different number, so that it is found again in the text. */
const counts: Readonly<Record<string, number>> = {
  coins: 18,
  confirmations: 13,
  minutes: 14,
  quantity: 15,
  required: 16,
  seconds: 17,
};

const example = (name: string): string | number => counts[name] ?? `‹${name}›`;

function placeholdersOf(text: Text = ''): string[] {
  const template = typeof text === 'function' ? text(counts) : text;
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

it('All languages are loaded: the folders, the transfer check and the server’s pages name the same ones', () => {
  const folders = readdirSync(source('messages'), { withFileTypes: true }).filter((one) => one.isDirectory());
  expect(folders.map(({ name }) => name).sort()).toEqual([...codes, 'en'].sort());
  expect(Object.keys(translations)).toEqual([...codes]);
  expect(Object.keys(transferTranslations)).toEqual([...codes]);
  const pages = readFileSync(source('../server/src/core/site/page-texts.json'), 'utf8');
  expect(Object.keys(JSON.parse(pages) as object).sort()).toEqual([...codes, 'en'].sort());
});

describe.each(codes)('the texts in %s', (code) => {
  it('The language has the texts of English, and every one of them is translated', async () => {
    const texts = await textsOf(code);
    expect(Object.keys(texts).sort()).toEqual([...keys].sort());
    // Signs, loanwords, and words that are the same in two languages.
    const same = /^(quantity|rateValue|total|network|transaction|walletTransaction|log_paid)$/;
    const untranslated = keys.filter((key) => texts[key] === english[key] && !same.test(key));
    expect(untranslated).toEqual([]);
    expect(keys.filter((key) => texts[key] === '')).toEqual([]);
  });

  it('Each text shows the values of the English text, and no others', async () => {
    const texts = await textsOf(code);
    for (const key of keys) {
      const names = new Set(placeholdersOf(english[key]));
      const values = Object.fromEntries([...names].map((name) => [name, example(name)]));
      // Without the bidirectional isolates around values.
      const filled = fill(texts[key] ?? '', values).replace(/[\u2066-\u2069]/g, '');
      for (const value of Object.values(values)) expect(filled, key).toContain(String(value));
      expect(filled, key).not.toMatch(/[{}#]|undefined|NaN/);
    }
  });

  it('The texts have no straight quotes, double spaces or spaces at the ends', async () => {
    for (const [key, text] of Object.entries(await textsOf(code))) {
      const shown = fill(text, counts);
      expect(shown, key).toBe(shown.trim());
      expect(shown, key).not.toMatch(/ {2}|["'`]|\.\.\./);
      // Yoruba's tone marks: one form, so that a search finds it.
      expect(shown, key).toBe(shown.normalize('NFC'));
    }
  });
});

describe('a language', () => {
  it.each([
    ['fr', 'fr', 'fr'],
    ['fr-CA', 'fr', 'fr-CA'],
    ['FR-ca', 'fr', 'fr-CA'],
    ['pt-BR', 'pt', 'pt-BR'],
    ['zh-Hans-SG', 'zh', 'zh-Hans-SG'],
    ['en-NG', 'en', 'en-NG'],
    [foreign ?? 'no language is left', 'en', foreign],
    ['tlh', 'en', undefined],
    ['not a tag!', 'en', undefined],
  ])('The texts for %s are in %s, and numbers in %s', async (tag, code, locale) => {
    const language = await loadLanguage(tag);
    expect([language.code, language.locale(), language.isRtl]).toEqual([code, locale, false]);
  });

  it('The languages written from right to left are known', async () => {
    expect((await loadLanguage('ar-EG')).isRtl).toBe(true);
    expect(await loadLanguage('ar-XB')).toMatchObject({ code: 'en', isRtl: true });
  });

  it.each([
    ['en', 0, '0 of 2 confirmations', 2],
    ['en', 0, '0 of 1 confirmation.', 1],
    ['es', 1, '1 de 1 confirmación', 1],
    ['pt', 2, '2 de 12 confirmações', 12],
    ['fr', 1, '1 confirmation sur 12', 12],
    ['fr', 2, '2 confirmations sur 12', 12],
    ['ar', 0, '0 من أصل تأكيد واحد', 1],
    ['ar', 0, '0 من أصل تأكيدين', 2],
    ['ar', 1, '1 من أصل 3 تأكيدات', 3],
    ['ar', 1, '1 من أصل 12 تأكيدًا', 12],
    ['ar', 1, '1 من أصل 100 تأكيد', 100],
    ['zh', 1, '已确认 1/12 次', 12],
  ])('In %s, %s confirmations read “%s”', async (tag, confirmations, expected, required) => {
    const { confirmingStatus = '' } = await textsOf(tag);
    expect(fill(confirmingStatus, { seen: '1 BTC', confirmations, required })).toContain(expected);
  });

  it('A text from right to left keeps each value in its own order', () => {
    const values = isolate({ amount: '\u200f49.90 US$', time: '12:41 م', required: 3 });
    expect(fill('أرسل {amount} قبل {time}: {required}', values)).toBe(
      'أرسل \u2066\u200f49.90 US$\u2069 قبل \u206812:41 م\u2069: 3',
    );
  });

  it('The language for trying layouts is longer by 40 %, and keeps all values', async () => {
    const pseudo = await textsOf('ar-XB');
    for (const [key, text] of Object.entries(english)) {
      const plain = fill(text, counts);
      const longer = pseudo[key] ?? '';
      expect(fill(longer, counts).length, key).toBeGreaterThanOrEqual(plain.length * 1.4);
      expect(placeholdersOf(longer), key).toEqual(placeholdersOf(text));
    }
  });
});

/** The widget's files, except the texts themselves. */
const files = readdirSync(source(''), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !/^(messages\/(?!problems)|contract|client)/.test(path))
  .map((path) => ({ path, code: readFileSync(source(path), 'utf8') }));

describe('a text', () => {
  it('Every text is used', () => {
    const all = files.map(({ code }) => code).join('\n');
    const unused = keys.filter((key) => !key.startsWith('log_') && !new RegExp(`['"]${key}['"]`).test(all));
    expect(unused).toEqual([]);
  });

  it('A text exists for every entry that the time log can have, and for no other', () => {
    const codes = keys.filter((key) => key.startsWith('log_')).map((key) => key.replace('log_', ''));
    expect(codes.sort()).toEqual(Object.keys(logCode.def.entries).sort());
  });

  it('Texts come from src/messages/, and from no view', () => {
    const found = files.flatMap(({ path, code }) => literalTexts(code).map((text) => `${path}: ${text}`));
    expect(found).toEqual([]);
  });

  it('A text in a view is found', () => {
    expect(literalTexts('html`<p class="a">${x} coins</p>`')).toEqual(['coins']);
    expect(literalTexts('html`<p aria-label="Coins ${x}">${x}</p>`')).toEqual(['aria-label="Coins']);
    expect(literalTexts("const view = { heading: 'Send it' };")).toEqual(['Send it']);
    expect(literalTexts('html`<p class="a b" part="c">${x} · ${y}</p>`')).toEqual([]);
  });
});

/** Texts for people in templates, and in the results of views. */
function literalTexts(code: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'html') {
      const { template } = node;
      const markup = ts.isNoSubstitutionTemplateLiteral(template)
        ? template.text
        : [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)].join('\0');
      const attributes =
        /\b(?:aria-(?:label|description|roledescription|valuetext)|title|alt|placeholder)="[^"\0]*\p{L}[^"\0]*/gu;
      found.push(...(markup.match(attributes) ?? []).map((text) => text.trim()));
      const outside = markup.replace(/<!--.*?-->|<[^>]*>/gs, '\0').split('\0');
      found.push(...outside.map((text) => text.trim()).filter((text) => /\p{L}/u.test(text)));
    }
    if (ts.isPropertyAssignment(node) && ts.isStringLiteral(node.initializer)) {
      if (/^(heading|sentence|label|notice)$/.test(node.name.getText())) found.push(node.initializer.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('view.ts', code, ts.ScriptTarget.Latest, true));
  return found;
}
