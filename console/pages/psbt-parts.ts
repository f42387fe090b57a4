/** PSBTs, which the shop's wallet signs: created, saved as files, imported, replaced and discarded. */
import { html, nothing, type TemplateResult } from 'lit';
import { psbts } from '../../src/contract/console-payouts.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { time } from '../format.js';
import { texts } from '../messages/exports.js';
import type { View } from '../page.js';
import { button } from '../ui/button.js';
import { short } from '../ui/copy.js';
import { section, tag } from '../ui/details.js';
import { rowActions } from '../ui/more.js';
import { chooseFile, saveFile } from '../ui/files.js';
import { table } from '../ui/table.js';

export type Psbt = ParsedData<typeof psbts.list>[number];
type PsbtFile = ParsedData<typeof psbts.write>;

const tones = {
  open: 'caution',
  sent: 'plain',
  settled: 'good',
  conflicted: 'bad',
  discarded: 'plain',
} as const;

/** The PSBT in base64, as the contract takes it. */
const mostCharacters = 95_000;

export const psbtSection = (rows: readonly Psbt[], view: View): TemplateResult =>
  section(
    texts.psbts,
    html`<p>${texts.psbtHint}</p>
      ${table<Psbt>({
        label: texts.psbts,
        rows,
        view,
        columns: [
          { label: texts.id, kind: 'hash', cell: ({ id }) => html`<code>${short(id)}</code>` },
          { label: texts.network, cell: ({ network }) => network },
          {
            label: texts.state,
            kind: 'status',
            cell: ({ state, problem }) =>
              html`${tag(texts.states[state], tones[state])} <small>${problem}</small>`,
          },
          { label: texts.created, kind: 'time', cell: ({ createdAt }) => time(createdAt) },
          { label: texts.actions, kind: 'actions', cell: (one) => actions(one, view) },
        ],
        empty: '',
      })}`,
    button(view, {
      text: texts.import,
      permission: 'psbts.import',
      isGuarded: true,
      kind: 'main',
      run: () => importSigned(view),
    }),
  );

function actions({ id, state }: Psbt, view: View): unknown {
  const params = { psbt_id: id };
  const kind = 'small';
  const isOpen = state === 'open' || state === 'sent';
  const write = async () => {
    const written = await view.act(() => view.api(psbts.write, { params }));
    if (written) save(written.data);
  };
  const bump = async () => {
    const values = await view.ask({
      title: texts.bumpTitle,
      text: texts.bumpText,
      action: texts.psbtAction,
      fields: [{ name: 'feeRate', label: texts.feeRate, isRequired: true }],
    });
    if (!values) return;
    const { feeRate = '' } = values;
    const made = await view.act(() => view.api(psbts.bump, { params, body: { feeRate } }));
    if (made) save(made.data);
  };
  const discard = async () => {
    const dialog = { title: texts.discardTitle, text: texts.discardText, action: texts.discardAction };
    if (!(await view.ask({ ...dialog, isFinal: true }))) return;
    await view.act(() => view.api(psbts.discard, { params }), texts.discarded);
  };
  return rowActions(id, [
    isOpen
      ? button(view, { text: texts.saveAgain, permission: 'psbts.write', kind: 'main small', run: write })
      : nothing,
    isOpen
      ? button(view, { text: texts.bump, permission: 'psbts.bump', isGuarded: true, kind, run: bump })
      : nothing,
    state === 'open' || state === 'conflicted'
      ? button(view, {
          text: texts.discard,
          permission: 'psbts.discard',
          isGuarded: true,
          kind,
          run: discard,
        })
      : nothing,
  ]);
}

export async function makePsbt(network: string, view: View): Promise<void> {
  const values = await view.ask({
    title: texts.psbtTitle(network),
    text: texts.psbtText,
    fields: [
      { name: 'feeRate', label: texts.feeRate, hint: texts.feeRateHint },
      { name: 'fingerprint', label: texts.fingerprint, hint: texts.fingerprintHint },
    ],
    action: texts.psbtAction,
  });
  if (!values) return;
  const { feeRate = '', fingerprint = '' } = values;
  const given = { ...(feeRate !== '' && { feeRate }), ...(fingerprint !== '' && { fingerprint }) };
  const made = await view.act(() => view.api(psbts.create, { body: { network, ...given } }));
  if (!made) return;
  const { psbt, skipped } = made.data;
  if (psbt) save(psbt);
  if (skipped.length === 0) return;
  const text = html`<p>${texts.leftOutPsbt}</p>
    <ul>
      ${skipped.map(({ id, reason }) => html`<li>${id}: ${reason}</li>`)}
    </ul>`;
  await view.ask({ title: texts.leftOut, text });
}

/** In binary, by BIP-174. */
const save = ({ id, file }: PsbtFile) =>
  saveFile(
    `transfers-${id}.psbt`,
    Uint8Array.from(atob(file), (character) => character.charCodeAt(0)),
    'application/octet-stream',
  );

async function importSigned(view: View): Promise<void> {
  const bytes = await chooseFile();
  if (!bytes) return;
  const signed = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  if (signed.length > mostCharacters) {
    view.say(texts.tooLarge);
    return;
  }
  const taken = await view.act(() => view.api(psbts.import, { body: { signed } }));
  if (!taken) return;
  const { isBroadcast, txHash, problem } = taken.data;
  view.say(isBroadcast ? texts.imported(txHash) : texts.notSent(problem ?? ''));
}
