/**
 * The audit log of the mode, in words.
 *
 * @place {"order": 200, "label": "Audit log", "parent": "settings", "permission": "auditLog.list"}
 */
import { html, type TemplateResult } from 'lit';
import { peopleApi } from '../../src/contract/console-people.js';
import { settingsApi } from '../../src/contract/console-settings.js';
import { currencies } from '../../src/contract/currencies.js';
import { time } from '../format.js';
import { texts } from '../messages/audit.js';
import { page, type View } from '../page.js';
import { commands } from '../ui/commands.js';
import { emptyHint } from '../ui/empty.js';
import { listOf, type Rows } from '../ui/list.js';
import { actions, actorOf, sentenceOf, storedView, type AuditEntry, type Decimals } from './audit-parts.js';
import type { Member } from './team-parts.js';

interface Data extends Rows<AuditEntry> {
  readonly decimals: Decimals;
  /** Undefined for roles that may not see the team. */
  readonly team: readonly Member[] | undefined;
}

async function load(view: View): Promise<Data> {
  const { api, signal, can } = view;
  const [listed, known, team] = await Promise.all([
    list.load(view),
    can('currencies.list') ? api(currencies.list, {}, signal) : undefined,
    can('team.list') ? api(peopleApi.team.list, {}, signal) : undefined,
  ]);
  return {
    ...listed,
    decimals: new Map(known?.data.map(({ code, decimals }) => [code, decimals])),
    team: team?.data,
  };
}

/** The team, and earlier colleagues in the rows. */
function peopleIn({ rows, team = [] }: Data, view: View): [id: string, name: string][] {
  const names = new Map(team.map(({ id, email }) => [id, email]));
  for (const one of rows) if (one.person) names.set(one.person.id, actorOf(one));
  const chosen = view.query.get('person');
  if (chosen && !names.has(chosen)) names.set(chosen, chosen);
  return [...names];
}

const list = listOf(settingsApi.auditLog.list, {
  label: texts.title,
  filters: [
    { name: 'person', label: texts.person, options: peopleIn, ask: (person) => ({ person }) },
    {
      name: 'action',
      label: texts.action,
      options: actions.map((one) => [one, texts.actionOf(one)]),
      ask: (action) => ({ action }),
    },
  ],
  hasPeriod: true,
  columns: (view, { decimals }: Data) => [
    { label: texts.when, kind: 'time', cell: (one) => time(one.time) },
    {
      label: texts.what,
      kind: 'prose',
      cell: (one) => html`<div>${sentenceOf(one, decimals, view)} ${storedView(one)}</div>`,
    },
  ],
});

const render = (data: Data, view: View): TemplateResult =>
  html`${list.bar(data, view)} ${list.table(data, view, emptyHint(view, texts.empty))}
  ${commands(view, [[texts.command, 'audit check']])}`;

export default page<Data>({ title: () => texts.title, load, render });
