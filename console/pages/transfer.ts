/** One transfer, and how it gets paid. */
import { html, nothing, type TemplateResult } from 'lit';
import { transfers } from '../../src/contract/transfers.js';
import { amount, time } from '../format.js';
import { texts } from '../messages/money.js';
import { page, type View } from '../page.js';
import { commands } from '../ui/commands.js';
import { copyable } from '../ui/copy.js';
import { details, section, tag } from '../ui/details.js';
import { sumOf, tones, type Transfer } from './transfer-parts.js';

const load = async ({ api, id, signal }: View): Promise<Transfer> =>
  (await api(transfers.retrieve, { params: { transfer_id: id } }, signal)).data;

function render(one: Transfer, view: View): TemplateResult {
  const { id, status, fee, currency, walletAddress = '', walletNetwork = '', txHash, failureReason } = one;
  const isBitcoin = /^(bitcoin|litecoin)/.test(walletNetwork);
  const { merchant } = view.session;
  return html`<div class="panels">
    ${section(
      texts.transfers,
      details([
        [texts.status, tag(texts.statuses[status], tones[status])],
        [texts.amount, sumOf(one)],
        [texts.fee, amount(fee, currency)],
        [texts.to, copyable(walletAddress, view)],
        [texts.network, walletNetwork],
        [texts.transaction, txHash && copyable(txHash, view)],
        [texts.reason, failureReason],
        [texts.refund, one.refundId],
        [texts.created, time(one.createdAt)],
        [texts.updated, time(one.updatedAt)],
      ]),
    )}
    ${
      status === 'pending'
        ? section(
            texts.statuses.pending,
            html`<p>${texts.waiting}</p>
              <p><a class="button" href=${view.link('exports')}>${texts.toSign}</a></p>
              ${commands(view, [
                ...(isBitcoin
                  ? [
                      [
                        texts.exportPsbt,
                        `transfers psbt export --merchant ${merchant.id} --network ${walletNetwork} --mode ${view.mode}`,
                      ] as const,
                    ]
                  : []),
                [texts.settle, `transfers settle ${id} --tx-hash HASH`],
                [texts.cancel, `transfers fail ${id} --reason "No longer needed"`],
              ])}`,
          )
        : nothing
    }
  </div>`;
}

export default page<Transfer>({
  title: (_view, data) => texts.one(data ? sumOf(data) : ''),
  load,
  render,
  everyMs: 10_000,
});
