/** HTML as text: the few helpers that the server's own pages need. */

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as the content of an element or of a quoted attribute. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** A template whose values are escaped, all but those that are templates themselves. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | Html | readonly Html[])[]
): Html {
  const filled = values.map((value) => {
    if (typeof value === 'string') return escapeHtml(value);
    return value instanceof Html ? value.text : value.map(({ text }) => text).join('');
  });
  return new Html(String.raw({ raw: parts }, ...filled));
}

/** Text in which `backticks` mark code. */
export function code(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))}`;
}
