/**
 * Transfers that wait for the shop's wallet: what is exported for it, written as files, and released.
 *
 * @place {"order": 70, "parent": "money", "permission": "payoutExports.list"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import { payoutExports, psbts } from '../../src/contract/console-payouts.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { time } from '../format.js';
import { texts } from '../messages/exports.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { copyable, short } from '../ui/copy.js';
import { saveCsv } from '../ui/csv.js';
import { details, section } from '../ui/details.js';
import { emptyHint } from '../ui/empty.js';
import { saveFile } from '../ui/files.js';
import { table } from '../ui/table.js';
import { sendFromWallet, tellLeftOut, type Export, type File } from './send-parts.js';
import { makePsbt, psbtSection, type Psbt } from './psbt-parts.js';

type Exports = ParsedData<typeof payoutExports.list>;
interface Data extends Exports {
  readonly psbts: readonly Psbt[];
}
type Waiting = Data['waiting'][number];
type Row = Export['transfers'][number];
type Outflow = Data['unexplained'][number];

async function load({ api, signal }: View): Promise<Data> {
  const [reserved, made] = await Promise.all([
    api(payoutExports.list, {}, signal),
    api(psbts.list, {}, signal),
  ]);
  return { ...reserved.data, psbts: made.data };
}

const render = ({ waiting, exports, unexplained, psbts: made }: Data, view: View): TemplateResult =>
  html`<div class="panels">
    ${section(
      texts.waiting,
      html`<p>${texts.waitingText}</p>
        ${table<Waiting>({
          label: texts.waiting,
          rows: waiting,
          view,
          columns: [
            { label: texts.network, cell: ({ network }) => network },
            { label: texts.count, kind: 'money', cell: ({ count }) => count },
            { label: texts.actions, kind: 'actions', cell: (one) => exportAction(one, view) },
          ],
          empty: emptyHint(view, texts.nothingWaits, { text: texts.toMoney, page: 'money' }),
        })}`,
    )}
    ${unexplained.length > 0 ? outflowSection(unexplained, view) : nothing}
    ${exports.map((one) => exportSection(one, view))} ${made.length > 0 ? psbtSection(made, view) : nothing}
  </div>`;

function exportAction({ network, by }: Waiting, view: View): unknown {
  if (by === 'hand')
    return html`<a href=${view.link('money', undefined, { status: 'pending' })}>${texts.byHand}</a>`;
  if (by === 'psbt') {
    const run = () => makePsbt(network, view);
    return button(view, {
      text: texts.makePsbt,
      permission: 'psbts.create',
      isGuarded: true,
      kind: 'main small',
      run,
    });
  }
  const run = async () => {
    const made = await view.act(() => view.api(payoutExports.create, { body: { network } }));
    if (!made) return;
    const { transfers } = made.data;
    view.say(transfers.length > 0 ? texts.exported(transfers.length) : texts.nothingExported);
    await tellLeftOut(made.data, view);
  };
  return button(view, {
    text: texts.export,
    permission: 'payoutExports.create',
    kind: 'main small' as const,
    run,
  });
}

function outflowSection(unexplained: Data['unexplained'], view: View): TemplateResult {
  const explain = async ({ network, txHash }: Outflow) => {
    const values = await view.ask({
      title: texts.explainTitle,
      text: html`<p>${texts.explainText}</p>`,
      action: texts.explainAction,
      fields: [{ name: 'note', label: texts.note }],
    });
    if (!values) return;
    const body = { network, txHash, note: values['note'] ?? '' };
    await view.act(() => view.api(payoutExports.explain, { body }), texts.explained);
  };
  return section(
    texts.unexplained,
    html`<p>${texts.unexplainedText}</p>
      ${table<Outflow>({
        label: texts.unexplained,
        rows: unexplained,
        view,
        columns: [
          { label: texts.amount, kind: 'money', cell: ({ amount, currency }) => `${amount} ${currency}` },
          { label: texts.network, cell: ({ network }) => network },
          {
            label: texts.to,
            kind: 'hash',
            cell: ({ address }) => (address === '' ? texts.unknownTo : html`<code>${short(address)}</code>`),
          },
          {
            label: texts.transaction,
            kind: 'hash',
            cell: ({ txHash }) => copyable(txHash, view, short(txHash)),
          },
          { label: texts.paidAt, kind: 'time', cell: ({ paidAt }) => time(paidAt) },
          {
            label: texts.actions,
            kind: 'actions',
            cell: (one) =>
              button(view, {
                text: texts.explain,
                permission: 'payoutExports.explain',
                isGuarded: true,
                kind: 'small' as const,
                run: () => explain(one),
              }),
          },
        ],
        empty: '',
      })}`,
  );
}

function exportSection(one: Export, view: View): TemplateResult {
  const free = one.transfers.filter(({ handedAt }) => handedAt === null);
  const isHanded = free.length < one.transfers.length;
  return section(
    texts.open(one.network),
    html`${details([
        [texts.id, copyable(one.id, view)],
        [texts.created, time(one.createdAt)],
        // The rest is the role, the address and the request, which the audit log shows.
        [texts.by, one.exportedBy.split(', ')[0]],
      ])}
      ${table<Export['transfers'][number]>({
        label: texts.count,
        rows: one.transfers,
        view,
        href: ({ id }) => view.link('transfer', id),
        columns: [
          { label: texts.amount, kind: 'money', cell: ({ amount, currency }) => `${amount} ${currency}` },
          { label: texts.to, kind: 'hash', cell: ({ address }) => html`<code>${short(address)}</code>` },
          ...(isHanded
            ? [{ label: texts.wallet, kind: 'hash' as const, cell: (row: Row) => walletCell(row, view) }]
            : []),
        ],
        empty: '',
      })}
      <p><small>${texts.safeHint}</small></p>`,
    html`${isHanded ? nothing : fileButtons(one, view)}
    ${
      one.chain && free.length > 0
        ? button(view, {
            text: texts.send,
            permission: 'payoutExports.handOver',
            kind: 'main',
            run: () => sendFromWallet(one, view),
          })
        : nothing
    }
    ${button(view, {
      text: texts.release,
      permission: 'payoutExports.release',
      isGuarded: true,
      run: () => release(one, view),
    })}
    ${button(view, {
      text: texts.decide,
      permission: 'payoutExports.decide',
      isGuarded: true,
      run: () => decide(one, view),
    })}`,
  );
}

const walletCell = ({ handedAt, walletAnswer }: Row, view: View) =>
  handedAt === null
    ? '–'
    : walletAnswer === null
      ? html`${time(handedAt)} <small>${texts.handed}</small>`
      : copyable(walletAnswer, view, short(walletAnswer));

const fileButtons = (one: Export, view: View) =>
  html`${fileButton(texts.saveSafe, one, view, ({ safe }) =>
    saveFile(`transfers-${one.id}.json`, JSON.stringify(safe, null, 2), 'application/json'),
  )}
  ${fileButton(texts.saveCsv, one, view, ({ transfers }) =>
    saveCsv(
      `transfers-${one.id}.csv`,
      transfers.map(({ id, amount, currency, address, ...call }) => ({
        transfer: id,
        network: one.network,
        address,
        amount,
        currency,
        to: call.to,
        value: call.value,
        data: call.data,
        link: call.link,
      })),
    ),
  )}`;

const fileButton = (text: string, { id }: Export, view: View, save: (file: File) => void) =>
  button(view, {
    text,
    permission: 'payoutExports.write',
    async run() {
      const written = await view.act(() => view.api(payoutExports.write, { params: { export_id: id } }));
      if (!written) return;
      await tellLeftOut(written.data, view);
      if (written.data.transfers.length > 0) save(written.data);
    },
  });

async function release({ id, transfers }: Export, view: View): Promise<void> {
  const values = await view.ask({
    title: texts.releaseTitle(transfers.length),
    text: html`<p>${texts.releaseText}</p>`,
    fields: [{ name: 'nonce', label: texts.nonce, type: 'number', hint: texts.nonceHint }],
    action: texts.releaseAction,
    isFinal: true,
  });
  if (!values) return;
  const body = { nonce: values['nonce'] ?? '' };
  await view.act(() => view.api(payoutExports.release, { params: { export_id: id }, body }), texts.released);
}

/** An owner's decision, without a proof. */
async function decide({ id, transfers }: Export, view: View): Promise<void> {
  const values = await view.ask({
    title: texts.releaseTitle(transfers.length),
    text: html`<p>${texts.decideText}</p>
      <ul>
        ${texts.releaseChecks.map((check) => html`<li>${check}</li>`)}
      </ul>`,
    fields: [{ name: 'reason', label: texts.reason, hint: texts.reasonHint }],
    action: texts.releaseAction,
    isFinal: true,
  });
  if (!values) return;
  const body = { reason: values['reason'] ?? '' };
  await view.act(() => view.api(payoutExports.decide, { params: { export_id: id }, body }), texts.released);
}

export default page<Data>({ title: () => texts.title, load, render, everyMs: 15_000 });
