/** Colours for code: comments, keywords, texts and numbers, in spans of one letter each. */
import { html, type Html } from '../../core/site/html.js';
import keywords from './keywords.json' with { type: 'json' };

const quoted = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
const number = String.raw`(?<v>\b\d[\d_.]*n?\b)`;
const words = (list: readonly string[]) => String.raw`(?<k>\b(?:${list.join('|')})\b)`;

const script = `(?<c>//[^\\n]*|/\\*[^]*?\\*/)|(?<s>${quoted}|\`(?:[^\`\\\\]|\\\\.)*\`)|${words(keywords.script)}|${number}`;
/** A `#` begins a comment only where a word could begin. */
const hashed = String.raw`(?<c>(?<![^\s])#[^\n]*)|(?<s>${quoted})`;
const markup = String.raw`(?<c><!--[^]*?-->)|(?<k></?[A-Za-z][\w-]*)|(?<s>"[^"]*")`;
const forms: Readonly<Record<string, string>> = {
  js: script,
  jsx: script,
  ts: script,
  tsx: script,
  css: String.raw`(?<c>/\*[^]*?\*/)|(?<k>--[\w-]+)|(?<s>#[\da-f]{3,8}\b)`,
  html: markup,
  svelte: markup,
  vue: markup,
  json: String.raw`(?<k>"(?:[^"\\]|\\.)*"(?=:))|(?<s>"(?:[^"\\]|\\.)*")|(?<v>\b(?:true|false|null)\b|-?\d[\d.e+-]*)`,
  python: `${hashed}|${words(keywords.python)}|${number}`,
  php: String.raw`(?<c>//[^\n]*|/\*[^]*?\*/)|(?<s>${quoted})|${words(keywords.php)}|${number}`,
  sh: `${hashed}|${words(keywords.shell)}|(?<v>\\$\\w+)`,
  ini: `${hashed}|(?<k>^[\\w.]+(?==)|^\\[\\w+\\])`,
  nginx: hashed,
  yaml: `${hashed}|(?<k>^ *-? *[\\w]+(?=:))`,
};

/** @param language the word after the three backticks; code in another one stays as it is */
export function highlight(code: string, language: string): Html {
  const form = forms[language];
  if (form === undefined) return html`${code}`;
  const parts: Html[] = [];
  let end = 0;
  for (const match of code.matchAll(new RegExp(form, 'gm'))) {
    const [kind] =
      Object.entries<string | undefined>(match.groups ?? {}).find(([, text]) => text !== undefined) ?? [];
    parts.push(html`${code.slice(end, match.index)}`, html`<span class="${kind ?? ''}">${match[0]}</span>`);
    end = match.index + match[0].length;
  }
  return html`${[...parts, html`${code.slice(end)}`]}`;
}
