/**
 * The shop as payers see it, where pages may send them, and a preview of the checkout.
 *
 * @place {"order": 191, "label": "Shop", "parent": "settings", "permission": "shop.retrieve"}
 */
import { html, type TemplateResult } from 'lit';
import { settingsApi } from '../../src/contract/console-settings.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { texts } from '../messages/settings.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { outside } from '../ui/copy.js';
import { details, section } from '../ui/details.js';
import { publicKeyOf } from '../ui/teach-tag.js';
import { loadWidget, previewSection } from './preview-parts.js';
import { zoneSection } from './zone-parts.js';

type Shop = ParsedData<typeof settingsApi.shop.retrieve>;

interface Data {
  readonly shop: Shop;
  /** Undefined for roles that may not see keys. */
  readonly publicKey: string | undefined;
}

async function load(view: View): Promise<Data> {
  const { api, signal } = view;
  const [shop, publicKey] = await Promise.all([
    api(settingsApi.shop.retrieve, {}, signal),
    publicKeyOf(view),
    loadWidget(view),
  ]);
  return { shop: shop.data, publicKey };
}

const render = ({ shop, publicKey }: Data, view: View): TemplateResult =>
  html`<div class="panels">
    ${shopSection(shop, view)} ${zoneSection(shop, view)}
    ${previewSection({ name: shop.businessName, logo: shop.logo, publicKey }, view)}
  </div>`;

function shopSection(shop: Shop, view: View): TemplateResult {
  return section(
    texts.seen,
    details([
      [texts.name, shop.businessName],
      [texts.logo, shop.logo && outside(shop.logo, shop.logo)],
      [texts.support, shop.supportUrl || texts.noSupport],
      [texts.origins, shop.redirectOrigins.join(', ') || texts.noOrigins],
    ]),
    button(view, {
      text: texts.change,
      permission: 'shop.update',
      isGuarded: true,
      run: () => change(shop, view),
    }),
  );
}

async function change(shop: Shop, view: View): Promise<void> {
  const values = await view.ask({
    title: texts.changeTitle,
    fields: [
      { name: 'businessName', label: texts.name, value: shop.businessName, isRequired: true },
      { name: 'logo', label: texts.logo, type: 'url', value: shop.logo, hint: texts.logoHint },
      { name: 'supportUrl', label: texts.support, value: shop.supportUrl, hint: texts.supportHint },
      {
        name: 'origins',
        label: texts.origins,
        isLong: true,
        hint: texts.originsHint,
        value: shop.redirectOrigins.join('\n'),
      },
    ],
    action: texts.save,
  });
  if (!values) return;
  const { businessName, logo, supportUrl, origins = '' } = values;
  const redirectOrigins = origins.split(/[\s,]+/).filter((one) => one !== '');
  const body = { businessName, logo, supportUrl, redirectOrigins };
  await view.act(() => view.api(settingsApi.shop.update, { body }), texts.saved);
}

export default page<Data>({ title: () => texts.shop, load, render });
