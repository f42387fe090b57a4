/**
 * The audit log of the mode, in words.
 *
 * @place {"order": 200, "label": "Audit log", "parent": "settings", "permission": "auditLog.list"}
 */
import { html, type TemplateResult } from 'lit';
import { peopleApi } from '../../src/contract/console-people.js';
import { settingsApi } from '../../src/contract/console-settings.js';
import { currencies } from '../../src/contract/currencies.js';
import type { Pagination } from '../../src/contract/endpoint.js';
import { time } from '../format.js';
import { texts } from '../messages/audit.js';
import { page, type View } from '../page.js';
import { askedRange } from '../period.js';
import { commands } from '../ui/commands.js';
import { emptyHint } from '../ui/empty.js';
import { filterBar } from '../ui/filter-bar.js';
import { periodFields } from '../ui/period.js';
import { table } from '../ui/table.js';
import { actions, actorOf, sentenceOf, storedView, type AuditEntry, type Decimals } from './audit-parts.js';
import type { Member } from './team-parts.js';

interface Data {
  readonly rows: readonly AuditEntry[];
  readonly pagination: Pagination | undefined;
  readonly decimals: Decimals;
  /** Undefined for roles that may not see the team. */
  readonly team: readonly Member[] | undefined;
}

async function load(view: View): Promise<Data> {
  const { api, query, signal, can } = view;
  const get = (name: string) => query.get(name) ?? undefined;
  const filter = {
    ...{ page: get('page'), person: get('person'), action: get('action') },
    ...askedRange(view),
  };
  const [listed, known, team] = await Promise.all([
    api(settingsApi.auditLog.list, { query: filter }, signal),
    can('currencies.list') ? api(currencies.list, {}, signal) : undefined,
    can('team.list') ? api(peopleApi.team.list, {}, signal) : undefined,
  ]);
  return {
    ...{ rows: listed.data, pagination: listed.pagination, team: team?.data },
    decimals: new Map(known?.data.map(({ code, decimals }) => [code, decimals])),
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

const render = (data: Data, view: View): TemplateResult =>
  html`<div class="bar">
      ${filterBar(
        view,
        [
          { name: 'person', label: texts.person, options: peopleIn(data, view) },
          { name: 'action', label: texts.action, options: actions.map((one) => [one, texts.actionOf(one)]) },
        ],
        periodFields(view),
      )}
    </div>
    ${table<AuditEntry>({
      label: texts.title,
      ...{ rows: data.rows, pagination: data.pagination, view },
      columns: [
        { label: texts.when, kind: 'time', cell: (one) => time(one.time) },
        {
          label: texts.what,
          kind: 'prose',
          cell: (one) => html`<div>${sentenceOf(one, data.decimals, view)} ${storedView(one)}</div>`,
        },
      ],
      empty: emptyHint(view, texts.empty),
    })}
    ${commands(view, [[texts.command, 'audit check']])}`;

export default page<Data>({ title: () => texts.title, load, render });
