/**
 * The whole audit log of the mode.
 *
 * @place {"order": 200, "parent": "settings", "permission": "auditLog.list"}
 */
import { html, type TemplateResult } from 'lit';
import { consoleApi } from '../../src/contract/console.js';
import type { Pagination } from '../../src/contract/endpoint.js';
import { texts } from '../messages/settings.js';
import { page, type View } from '../page.js';
import { askedRange } from '../period.js';
import { filterBar } from '../ui/filter-bar.js';
import { periodFields } from '../ui/period.js';
import { auditTable, type AuditEntry } from './audit-parts.js';

interface Data {
  readonly rows: readonly AuditEntry[];
  readonly pagination: Pagination | undefined;
}

async function load(view: View): Promise<Data> {
  const { api, query, signal } = view;
  const filter = { page: query.get('page') ?? undefined, ...askedRange(view) };
  const { data: rows, pagination } = await api(consoleApi.auditLog.list, { query: filter }, signal);
  return { rows, pagination };
}

const render = ({ rows, pagination }: Data, view: View): TemplateResult =>
  html`<div class="bar">${filterBar(view, [], periodFields(view))}</div>
    ${auditTable(rows, view, pagination)}`;

export default page<Data>({ title: () => texts.audit, load, render });
