/**
 * The whole audit log of the mode.
 *
 * @place {"order": 200, "parent": "settings", "permission": "auditLog.list"}
 */
import { html, type TemplateResult } from 'lit';
import { consoleApi } from '../../src/contract/console.js';
import type { Pagination } from '../../src/contract/endpoint.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/settings.js';
import { page, type View } from '../page.js';
import { filterBar } from '../ui/filter-bar.js';
import { auditTable, type AuditEntry } from './audit-parts.js';

interface Data {
  readonly rows: readonly AuditEntry[];
  readonly pagination: Pagination | undefined;
}

async function load({ api, query, signal }: View): Promise<Data> {
  const get = (name: string) => query.get(name) ?? undefined;
  const filter = { page: get('page'), from: get('from'), to: get('to') };
  const { data: rows, pagination } = await api(consoleApi.auditLog.list, { query: filter }, signal);
  return { rows, pagination };
}

const render = ({ rows, pagination }: Data, view: View): TemplateResult =>
  html`<div class="bar">
      ${filterBar(view, [
        { name: 'from', label: common.from, type: 'date' },
        { name: 'to', label: common.until, type: 'date' },
      ])}
    </div>
    ${auditTable(rows, view, pagination)}`;

export default page<Data>({ title: () => texts.audit, load, render });
