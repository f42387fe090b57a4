/** Presses the button of a payment link's page, as a browser without scripts does. */
import type { TestServer } from './server.js';

export interface PageReply {
  readonly status: number;
  readonly text: string;
  /** The page that a press leads to. */
  readonly location: string;
  /** The id of the payment that a press has started; empty if it has started none. */
  readonly paymentId: string;
}

type Server = Pick<TestServer, 'url'>;

async function replyOf(response: Response): Promise<PageReply> {
  const location = response.headers.get('location') ?? '';
  const paymentId = /^\/l\/\w+\/(\w+)/.exec(location)?.[1] ?? '';
  return { status: response.status, text: await response.text(), location, paymentId };
}

export const openLink = async ({ url }: Server, slug: string, language = 'en'): Promise<PageReply> =>
  replyOf(await fetch(`${url}/l/${slug}`, { headers: { 'Accept-Language': language } }));

/** The hidden fields of a page's form, and more. */
export function formOf({ text }: PageReply, values: Readonly<Record<string, string>> = {}) {
  const hidden = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
  return { ...Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value])), ...values };
}

/** Sends a form. */
export const sendForm = async (
  { url }: Server,
  slug: string,
  form: Readonly<Record<string, string>>,
): Promise<PageReply> =>
  replyOf(
    await fetch(`${url}/l/${slug}`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(form),
      headers: { 'Accept-Language': 'en' },
    }),
  );

/** Opens the page, fills in its form, and sends it. */
export const press = async (server: Server, slug: string, values: Readonly<Record<string, string>> = {}) =>
  sendForm(server, slug, formOf(await openLink(server, slug), values));
