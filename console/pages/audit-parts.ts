/** Entries of the audit log: the newest among the settings, and all on a page of their own. */
import { html, nothing, type TemplateResult } from 'lit';
import type { consoleApi } from '../../src/contract/console.js';
import type { Pagination, ParsedData } from '../../src/contract/endpoint.js';
import { time, words } from '../format.js';
import { texts } from '../messages/settings.js';
import type { View } from '../page.js';
import { table } from '../ui/table.js';

export type AuditEntry = ParsedData<typeof consoleApi.auditLog.list>[number];

export function auditTable(rows: readonly AuditEntry[], view: View, pagination?: Pagination): TemplateResult {
  return table<AuditEntry>({
    label: texts.audit,
    ...{ rows, view, pagination },
    columns: [
      { label: texts.when, kind: 'time', cell: (one) => time(one.time) },
      { label: texts.what, cell: ({ action }) => words(action).replace('.', ': ') },
      { label: texts.who, cell: ({ actor }) => actor },
      { label: texts.about, kind: 'hash', cell: ({ subjectId }) => html`<code>${subjectId}</code>` },
      {
        label: texts.values,
        kind: 'prose',
        cell: ({ before, after }) => html`${fields(before)} ${before && after ? '→' : ''} ${fields(after)}`,
      },
    ],
    empty: texts.auditEmpty,
  });
}

const fields = (values: AuditEntry['before']) =>
  values ? html`<code>${JSON.stringify(values)}</code>` : nothing;
