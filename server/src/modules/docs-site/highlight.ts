/** Colours for code: comments, keywords, texts and numbers, in spans of one letter each. */
import { html, type Html } from '../../core/site/html.js';

const quoted = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
const number = String.raw`(?<v>\b\d[\d_.]*n?\b)`;
const words = (list: string) => String.raw`(?<k>\b(?:${list.trim().replace(/\s+/g, '|')})\b)`;
const scriptWords =
  words(`async await break case catch class const continue default delete do else export extends finally for from
  function if implements import in instanceof interface let new null of return static super switch this throw try typeof undefined
  void while yield true false`);
const pythonWords =
  words(`and as assert class def del elif else except False finally for from global if import in is lambda None
  not or pass raise return True try while with yield`);
const phpWords =
  words(`array as bool catch class const echo else elseif empty exit extends false foreach function getenv if int
  new null private public return static string throw true try`);
const shellWords = words('cd do done echo else export fi for if in sudo then while');

const script = `(?<c>//[^\\n]*|/\\*[^]*?\\*/)|(?<s>${quoted}|\`(?:[^\`\\\\]|\\\\.)*\`)|${scriptWords}|${number}`;
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
  python: `${hashed}|${pythonWords}|${number}`,
  php: String.raw`(?<c>//[^\n]*|/\*[^]*?\*/)|(?<s>${quoted})|${phpWords}|${number}`,
  sh: `${hashed}|${shellWords}|(?<v>\\$\\w+)`,
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
