/**
 * The shop's fee, and the limits of transfers and refunds.
 *
 * @place {"order": 192, "label": "Fee and limits", "parent": "settings", "permission": "shop.retrieve"}
 */
import { html, type TemplateResult } from 'lit';
import { consoleApi } from '../../src/contract/console.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/settings.js';
import { page, type View } from '../page.js';
import { commands } from '../ui/commands.js';
import { details, section } from '../ui/details.js';

type Shop = ParsedData<typeof consoleApi.shop.retrieve>;

const load = async ({ api, signal }: View): Promise<Shop> =>
  (await api(consoleApi.shop.retrieve, {}, signal)).data;

const limits = (all: Readonly<Record<string, string>>) =>
  Object.entries(all)
    .map(([currency, limit]) => `${limit} ${currency}`)
    .join(', ');

function render(shop: Shop, view: View): TemplateResult {
  const { merchant } = view.session;
  return html`<div class="panels">
    ${section(
      texts.feeAndTransfers,
      html`${details([
          [texts.fee, `${shop.feeBasisPoints / 100} %`],
          [texts.transfers, texts.transfersTo[shop.transfers]],
          [texts.dailyLimits, limits(shop.dailyLimits) || texts.noLimit],
        ])}
        <h3>${common.commandLine}</h3>
        ${commands(view, [
          [texts.policyCommand, `merchants update ${merchant.id} --daily-limit USDT=1000`],
          [texts.keysCommand, `deposit-keys list --merchant ${merchant.id}`],
        ])}`,
    )}
    ${section(
      texts.refunds,
      details([
        [texts.dailyRefunds, limits(shop.dailyRefunds) || texts.noLimit],
        [texts.autoRefund, limits(shop.autoRefund) || texts.allApproved],
      ]),
    )}
  </div>`;
}

export default page<Shop>({ title: () => texts.policy, load, render });
