/** The head of a page that runs the widget: its script, and all that leads to the QR code. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { html, type Html } from './html.js';

/**
 * @param api the URL of the API and the script for the page
 * @param directory that the build wrote the widget to
 * @returns the head for a language
 */
export function createWidgetHead(api: string, directory: string): (language: string) => Html {
  const files = [...filesIn(directory), ...filesIn(directory, 'chunks/')];
  return (language) => {
    // Everything up to the QR code is requested at once, instead of each part after the one before it has run.
    const preloaded = partsToQr(language).flatMap((part) =>
      files.filter((name) => name.replace(/^chunks\/|-[\w-]{6}\.js$/g, '') === part),
    );
    return html`<script type="module" src="${api}/crypto-checkout.js"></script>
      ${preloaded.map((name) => html`<link rel="modulepreload" href="${api}/${name}" crossorigin />`)}`;
  };
}

/** The widget's files in a folder; none if the widget has not been built. */
function filesIn(directory: string, folder = ''): readonly string[] {
  try {
    return readdirSync(join(directory, folder))
      .sort()
      .map((name) => folder + name);
  } catch {
    return [];
  }
}

/** The parts that every payment in this language needs up to its QR code, in the order in which they are needed. */
function partsToQr(language: string): readonly string[] {
  return ['widget', 'flow', 'load', 'offer', language, 'qr-code'];
}
