/** Colours for code, in spans of the classes `hljs-…`, which docs.css styles. */
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import ini from 'highlight.js/lib/languages/ini';
import json from 'highlight.js/lib/languages/json';
import nginx from 'highlight.js/lib/languages/nginx';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { html, Html } from '../../core/site/html.js';

// Only the languages of the guides: all of them together take ten times as long to load.
const languages = { bash, css, ini, json, nginx, php, python, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.registerAliases(['javascript', 'js', 'jsx'], { languageName: 'typescript' });
hljs.registerAliases(['svelte', 'vue'], { languageName: 'xml' });

/** @param language the word after the three backticks; code in another one stays as it is */
export function highlight(code: string, language: string): Html {
  if (hljs.getLanguage(language) === undefined) return html`${code}`;
  return new Html(hljs.highlight(code, { language, ignoreIllegals: true }).value);
}
