/**
 * The networks of the mode, and how far each was read.
 *
 * @place {"order": 197, "label": "Networks", "parent": "settings", "permission": "home.listNetworks"}
 */
import { html, type TemplateResult } from 'lit';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { home } from '../../src/contract/home.js';
import { texts } from '../messages/settings.js';
import { page, type View } from '../page.js';
import { commands } from '../ui/commands.js';
import { section, tag } from '../ui/details.js';
import { table } from '../ui/table.js';

type Network = ParsedData<typeof home.listNetworks>[number];

function networkSection(networks: readonly Network[], view: View): TemplateResult {
  return section(
    texts.networks,
    html`${table<Network>({
      label: texts.networks,
      rows: networks,
      view,
      columns: [
        { label: texts.network, cell: ({ name }) => name },
        {
          label: texts.state,
          kind: 'status',
          cell: ({ isOffered }) =>
            tag(isOffered ? texts.offered : texts.notOffered, isOffered ? 'good' : 'bad'),
        },
        {
          label: texts.behind,
          kind: 'money',
          cell: ({ lagSeconds }) => (lagSeconds === null ? texts.notRead : texts.seconds(lagSeconds)),
        },
        { label: texts.node, cell: ({ node }) => node ?? '–' },
        { label: texts.problems, kind: 'prose', cell: ({ problems }) => problems.join('. ') || '–' },
      ],
      empty: texts.noNetworks,
    })}
    ${commands(view, [
      [texts.networksCommand, 'chains status'],
      [texts.nodesCommand, `networks check --merchant ${view.session.merchant.id}`],
    ])}`,
  );
}

export default page<readonly Network[]>({
  title: () => texts.networks,
  load: async ({ api, signal }) => (await api(home.listNetworks, {}, signal)).data,
  render: (networks, view) => html`<div class="panels">${networkSection(networks, view)}</div>`,
  everyMs: 15_000,
});
