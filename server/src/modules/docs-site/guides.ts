/** The guides of `docs/` as pages: headings have the ids that they have on GitHub, and links lead to the server's own pages. */
import { readFileSync } from 'node:fs';
import { Marked } from 'marked';
import { rootOf } from './frame.js';
import { highlight } from './highlight.js';
import { picture } from './picture.js';
import { html, Html } from '../../core/site/html.js';

/** In the widget's package, so that every server installation has them. */
const directory = new URL('docs/', import.meta.resolve('crypto-checkout/package.json'));

/** The name of this server in the guides. */
const exampleUrl = 'https://pay.example.com';
const exampleTag = /<script type="importmap">[^]*?(?=```)/;

interface Guide {
  /** The file's name without its ending; the map itself is `README`. */
  readonly name: string;
  /** Below the server's root. */
  readonly path: string;
  readonly title: string;
  /** The role that it is for. */
  readonly group: string;
}

/**
 * All guides, in the order of the map by role at the end of `docs/README.md`; each where it comes first.
 * @param modules those of the server: a guide that begins with `<!-- module: NAME -->` is shown if it is one of them
 */
export function listGuides(modules: readonly string[]): Guide[] {
  const start = { name: 'README', path: 'docs', title: 'Start', group: 'Start' };
  const guides = new Map<string, Guide>([[start.name, start]]);
  for (const section of read('README').split(/^### /m).slice(1)) {
    const group = section.slice(0, section.indexOf('\n'));
    for (const [, title = '', name = ''] of section.matchAll(/^- \[(.+?)\]\(([\w-]+)\.md\)/gm)) {
      const [, module] = /^<!-- module: ([\w-]+) -->/.exec(read(name)) ?? [];
      if (module !== undefined && !modules.includes(module)) continue;
      if (!guides.has(name)) guides.set(name, { name, path: `docs/${name}`, title, group });
    }
  }
  return [...guides.values()];
}

/** The parts of the guides that the server writes. */
interface Filled {
  /** The script's tag with its hashes, as `npm run build` made it; undefined before that. */
  readonly tag: string | undefined;
  /** The help of all settings, in place of `<!-- settings -->`. */
  readonly settings: string;
  /** Those of the server: a section with `<!-- module: NAME -->` below its heading is shown if it is one of them. */
  readonly modules: readonly string[];
}

/** @param guides the guides that its links can lead to */
export function renderGuide(
  guide: Guide,
  guides: readonly Guide[],
  publicUrl: string,
  { tag, settings, modules }: Filled,
): Html {
  const ids = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const slug = slugOf(text);
        const earlier = ids.get(slug) ?? 0;
        ids.set(slug, earlier + 1);
        const id = earlier === 0 ? slug : `${slug}-${earlier}`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      code({ text, lang = '' }) {
        const [language = ''] = lang.split(' ');
        if (language === 'mermaid' && text.startsWith('flowchart TD\n')) return picture(text).text;
        return html`<pre><code>${highlight(text, language)}
</code></pre>`.text;
      },
      // One that a reader can tick, named by its own words.
      listitem({ task, checked, tokens }) {
        const content = this.parser.parse(tokens);
        if (!task) return `<li>${content}</li>\n`;
        return `<li class="task"><label><input type="checkbox"${checked ? ' checked' : ''}> ${content}</label></li>\n`;
      },
      link({ href, tokens }) {
        const text = new Html(this.parser.parseInline(tokens));
        if (/^(?:https?:|mailto:|#)/.test(href)) return html`<a href="${href}">${text}</a>`.text;
        const [, file = '', hash = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
        const target = guides.find((one) => one.name === file);
        // A file that this server does not show.
        if (target === undefined) return text.text;
        const url = `${rootOf(guide)}${target.path}${hash}`;
        return html`<a href="${url}">${text.text === `${file}.md` ? target.title : text}</a>`.text;
      },
    },
  });
  const text = sectionsOf(read(guide.name), modules)
    .replace('<!-- settings -->', () => `\`\`\`text\n${settings}\n\`\`\``)
    .replace(/<!--[^]*?-->\n*/g, '')
    .replace(exampleTag, (example) => tag ?? example)
    .replaceAll(exampleUrl, publicUrl);
  // A wide table scrolls within its frame, by keyboard too.
  const frame = '<div class="table" role="group" aria-label="Table" tabindex="0"><table>';
  return new Html(
    marked
      .parse(text, { async: false })
      .replaceAll('<table>', frame)
      .replaceAll('</table>', '</table></div>')
      .replaceAll('<th></th>', '<td></td>'),
  );
}

function sectionsOf(text: string, modules: readonly string[]): string {
  const sections = text.split(/^(?=## )/m).filter((section) => {
    const [, module] = /^## .*\n\n<!-- module: ([\w-]+) -->/.exec(section) ?? [];
    return module === undefined || modules.includes(module);
  });
  return sections.join('');
}

function read(name: string): string {
  return readFileSync(new URL(`${name}.md`, directory), 'utf8');
}

/** A heading's id, as GitHub makes it. */
function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
