/**
 * Comparing what the shop's addresses hold with the books, part by part, and the differences.
 *
 * @place {"order": 85, "parent": "money", "permission": "chainChecks.list"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import { chainChecks } from '../../src/contract/console-chain-checks.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { time } from '../format.js';
import { texts } from '../messages/checks.js';
import { common } from '../messages/common.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { copyable, short } from '../ui/copy.js';
import { section, tag } from '../ui/details.js';
import { table } from '../ui/table.js';

type Data = ParsedData<typeof chainChecks.list>;
type Network = Data['networks'][number];
type Part = ParsedData<typeof chainChecks.compare>;
type Found = ParsedData<typeof chainChecks.book>[number];
type Row = Found & { readonly foundAt?: string };

/** A comparison of this page. It ends with the page: nothing is kept of it that the server does not keep. */
interface Run {
  readonly name: string;
  checked: number;
  progress: number;
  height: number;
  readonly findings: Found[];
  state: 'running' | 'stopped' | 'done';
}
const runs = new WeakMap<View, Run>();

const load = async ({ api, signal }: View): Promise<Data> => (await api(chainChecks.list, {}, signal)).data;

const tones = { none: 'plain', seen: 'caution', dust: 'caution', shortage: 'bad', credited: 'good' } as const;

function render({ networks, differences }: Data, view: View): TemplateResult {
  const run = runs.get(view);
  const known = differences.map(({ state, ...one }): Row => ({ ...one, outcome: state }));
  return html`<div class="panels">
    ${section(
      texts.networks,
      html`<p>${texts.text}</p>
        ${networkTable(networks, view)} ${run ? progressOf(run, view) : nothing}`,
    )}
    ${
      run && run.findings.length > 0
        ? section(texts.now, differenceTable(run.findings, texts.now, view))
        : nothing
    }
    ${section(texts.differences, differenceTable(known, texts.differences, view))}
  </div>`;
}

const networkTable = (rows: readonly Network[], view: View) =>
  table<Network>({
    label: texts.networks,
    rows,
    view,
    columns: [
      { label: texts.network, cell: ({ name }) => name },
      { label: texts.compared, kind: 'time', cell: (one) => time(one.comparedAt) || texts.never },
      { label: texts.progress, kind: 'money', cell: (one) => texts.percent(one.progress) },
      {
        label: common.actions,
        kind: 'actions',
        cell: (one) =>
          button(view, {
            text: texts.compare,
            permission: 'chainChecks.compare',
            kind: 'main small',
            run: () => compare(one, view),
          }),
      },
    ],
    empty: texts.noNetworks,
  });

function progressOf(run: Run, view: View): TemplateResult {
  const { name, checked, progress, height, findings, state } = run;
  const stop = () => {
    run.state = 'stopped';
    view.redraw();
  };
  const text =
    state === 'running'
      ? texts.running(name, checked)
      : state === 'stopped'
        ? texts.stopped(name, checked)
        : texts.done(name, checked, height, findings.length);
  return html`<div class="place" role="status">
    <p>${text}</p>
    ${
      state === 'running'
        ? html`<progress max="1" value=${progress} aria-label=${texts.progress}></progress>
            <button class="small" @click=${stop}>${texts.stop}</button>`
        : nothing
    }
  </div>`;
}

const readPart = async (network: string, after: number, { api, signal }: View): Promise<Part> =>
  (await api(chainChecks.compare, { params: { network }, query: { after } }, signal)).data;

/** Part by part, so that the page can show how far it is, and can be left at any time. */
async function compare({ network, name }: Network, view: View): Promise<void> {
  const run: Run = { name, checked: 0, progress: 0, height: 0, findings: [], state: 'running' };
  runs.set(view, run);
  view.redraw();
  const done = await view.act(async () => {
    let after: number | null = 0;
    while (after !== null && run.state === 'running') {
      const data = await readPart(network, after, view);
      run.checked += data.checked;
      run.height = data.height;
      run.progress = data.progress;
      run.findings.push(...data.findings);
      after = data.next;
      view.redraw();
    }
    return true;
  });
  if (run.state === 'running') run.state = done ? 'done' : 'stopped';
  view.redraw();
}

/** With every digit: it may be a single unit. */
const sumOf = (one: Row) => `${one.amount} ${one.currency}`;
const isTooMuch = ({ amount: value }: Row) => !value.startsWith('-');

const differenceTable = (rows: readonly Row[], label: string, view: View) =>
  table<Row>({
    label,
    rows,
    view,
    columns: [
      {
        label: texts.address,
        kind: 'hash',
        cell: ({ address }) => copyable(address, view, short(address, 6, 4)),
      },
      { label: texts.amount, kind: 'money', cell: sumOf },
      {
        label: texts.advice,
        kind: 'prose',
        cell: ({ outcome, paymentId, walletId, foundAt }) =>
          html`${tag(texts.states[outcome], tones[outcome])} ${texts.causes[outcome]}
          ${foundAt === undefined ? nothing : html`<small>${texts.since} ${time(foundAt)}</small>`}
          ${paymentId === null ? nothing : html`<a href=${view.link('payment', paymentId)}>${texts.payment}</a>`}
          ${walletId === null ? nothing : html`<a href=${view.link('wallet', walletId)}>${texts.wallet}</a>`}`,
      },
      ...(view.can('chainChecks.book')
        ? [
            {
              label: common.actions,
              kind: 'actions' as const,
              cell: (one: Row) =>
                isTooMuch(one) && one.outcome !== 'credited'
                  ? button(view, {
                      text: texts.credit,
                      permission: 'chainChecks.book',
                      isGuarded: true,
                      kind: 'small' as const,
                      run: () => credit(one, view),
                    })
                  : nothing,
            },
          ]
        : []),
    ],
    empty: texts.noDifferences,
  });

async function credit(one: Row, view: View): Promise<void> {
  const { creditText: text, creditAction: action } = texts;
  if (!(await view.ask({ title: texts.creditTitle(sumOf(one)), text, action, isFinal: true }))) return;
  const input = { params: { network: one.network }, body: { address: one.address } };
  const booked = await view.act(() => view.api(chainChecks.book, input));
  if (!booked) return;
  runs.delete(view);
  const isCredited = booked.data.some(({ outcome }) => outcome === 'credited');
  view.say(isCredited ? texts.credited : texts.notCredited);
  view.redraw();
}

export default page<Data>({ title: () => texts.title, load, render, everyMs: 30_000 });
