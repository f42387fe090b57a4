/**
 * The shop's fee, and the limits of transfers and refunds.
 *
 * @place {"order": 192, "label": "Fee and limits", "parent": "settings", "permission": "shop.retrieve"}
 */
import { html, type TemplateResult } from 'lit';
import { settingsApi } from '../../src/contract/console-settings.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/settings.js';
import { page, type View } from '../page.js';
import { commands } from '../ui/commands.js';
import { details, section } from '../ui/details.js';
import { listed, refundLimitSection } from './refund-limit-parts.js';

type Shop = ParsedData<typeof settingsApi.shop.retrieve>;

const load = async ({ api, signal }: View): Promise<Shop> =>
  (await api(settingsApi.shop.retrieve, {}, signal)).data;

function render(shop: Shop, view: View): TemplateResult {
  const { merchant } = view.session;
  return html`<div class="panels">
    ${section(
      texts.feeAndTransfers,
      html`${details([
          [texts.fee, `${shop.feeBasisPoints / 100} %`],
          [texts.transfers, texts.transfersTo[shop.transfers]],
          [texts.dailyLimits, listed(shop.dailyLimits) || texts.noLimit],
        ])}
        <h3>${common.commandLine}</h3>
        ${commands(view, [
          [texts.feeCommand, `merchants update ${merchant.id} --fee-basis-points ${shop.feeBasisPoints}`],
          [texts.limitCommand, `merchants update ${merchant.id} --daily-limit USDT=1000`],
          [texts.keysCommand, `deposit-keys list --merchant ${merchant.id}`],
        ])}`,
    )}
    ${refundLimitSection(shop, view)}
  </div>`;
}

export default page<Shop>({ title: () => texts.policy, load, render });
