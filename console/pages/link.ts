/**
 * One payment link: its address, button and QR code.
 *
 * @place {"order": 94, "parent": "links", "permission": "links.retrieve"}
 */
import { html, type TemplateResult } from 'lit';
import { links } from '../../src/contract/links.js';
import { drawQr } from '../../src/views/qr-code.js';
import { amount, time } from '../format.js';
import { texts } from '../messages/links.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { copyable, outside, short } from '../ui/copy.js';
import { details, section } from '../ui/details.js';
import { changedEnd, linkFields, priceOf, settingsOf, stateOf, type Link } from './link-parts.js';

const load = async ({ api, id, signal }: View): Promise<Link> =>
  (await api(links.retrieve, { params: { link_id: id } }, signal)).data;

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Plain HTML for any page. */
const snippetOf = ({ url }: Link) =>
  `<a href="${escaped(url)}" rel="noopener" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#1d4fd8;color:#fff;font:600 16px system-ui,sans-serif;text-decoration:none">${texts.buttonLabel}</a>`;

function render(one: Link, view: View): TemplateResult {
  const permission = 'links.update';
  const { title, url, stock, baseCurrency, minAmount, maxAmount, presets, expiresAt } = one;
  const bound = (units: number | null) => units !== null && amount(units, baseCurrency);
  return html`<div class="panels">
    ${section(
      texts.facts,
      details([
        [texts.state, stateOf(one)],
        [texts.address, html`${copyable(url, view, short(url, 24, 6))} ${outside(url, texts.open)}`],
        [texts.text, one.text],
        [texts.price, priceOf(one)],
        [texts.least, bound(minAmount) || ''],
        [texts.most, bound(maxAmount) || ''],
        [texts.presets, presets.map((preset) => amount(preset, baseCurrency)).join(', ')],
        [texts.quantity, one.maxQuantity],
        [texts.stock, stock ?? texts.unlimited],
        [texts.sold, one.sold],
        [texts.reserved, one.reserved],
        [texts.payments, one.payments],
        [texts.uses, one.uses === 'single' ? texts.single : texts.many],
        [texts.asks, one.fields.map(nameOf).join(', ')],
        [texts.lines, one.lines.map((line) => `${line.quantity} × ${line.name}`).join(', ')],
        [texts.due, time(one.dueAt)],
        [texts.end, time(expiresAt)],
        [texts.successText, one.successText],
        [texts.redirect, one.redirectUrl],
        [texts.created, time(one.createdAt)],
      ]),
      html`${button(view, { text: texts.changeLink, permission, run: () => change(one, view) })}
      ${
        one.isActive
          ? button(view, { text: texts.turnOff, permission, run: () => turnOff(one, view) })
          : button(view, { text: texts.turnOn, permission, run: () => update(one, { isActive: true }, view) })
      }`,
    )}
    ${section(
      texts.button,
      html`<p>${texts.buttonText}</p>
        ${copyable(snippetOf(one), view)}
        <p>${texts.preview}: <a class="button main" href=${url} rel="noopener">${texts.buttonLabel}</a></p>`,
    )}
    ${section(
      texts.poster,
      html`<div class="poster">
          <p class="title">${title}</p>
          ${drawQr(url, title)}
          <p translate="no"><code>${url}</code></p>
        </div>
        <div class="actions"><button @click=${() => print()}>${texts.print}</button></div>`,
    )}
  </div>`;
}

function nameOf({ name, label, isRequired }: Link['fields'][number]): string {
  const known = name === 'email' ? texts.email : name === 'name' ? texts.name : texts.note;
  return `${label || known}${isRequired ? ' *' : ''}`;
}

const update = ({ id }: Link, body: { readonly isActive: boolean }, view: View) =>
  view.act(() => view.api(links.update, { params: { link_id: id }, body }), texts.saved);

async function change(one: Link, view: View): Promise<void> {
  const { changeLinkTitle: title, changeLinkText: text, save: action } = texts;
  const values = await view.ask({ title, text, fields: linkFields(one), action });
  if (!values) return;
  const settings = settingsOf(values, one.fields);
  const body = {
    ...settings,
    amount: settings.lines.length > 0 ? undefined : (settings.amount ?? null),
    minAmount: settings.minAmount ?? null,
    maxAmount: settings.maxAmount ?? null,
    stock: settings.stock ?? null,
    dueAt: changedEnd(settings.dueAt, one.dueAt),
    expiresAt: changedEnd(settings.expiresAt, one.expiresAt),
  };
  await view.act(() => view.api(links.update, { params: { link_id: one.id }, body }), texts.saved);
}

async function turnOff(one: Link, view: View): Promise<void> {
  const { turnOffText: text, turnOffAction: action } = texts;
  if (await view.ask({ title: texts.turnOffTitle(one.title), text, action })) {
    await update(one, { isActive: false }, view);
  }
}

export default page<Link>({ title: (_view, data) => data?.title ?? texts.link, load, render });
