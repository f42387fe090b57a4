/** A list of records: columns on a wide screen, cards on a narrow one, and its pages. */
import { html, nothing, type TemplateResult } from 'lit';
import { isValue } from '../format.js';
import { common } from '../messages/common.js';
import type { Pagination } from '../../src/contract/endpoint.js';
import type { View } from '../page.js';

export interface Column<Row> {
  readonly label: string;
  readonly cell: (row: Row) => unknown;
  /** Numbers are aligned to the end of the line, so that digits line up in a column. */
  readonly isNumber?: boolean;
}

export interface TableOptions<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** The page of a row, which its first cell links to. */
  readonly href?: (row: Row) => string;
  readonly pagination?: Pagination | undefined;
  readonly view: View;
  /** The hint, and the action, while there are no rows. */
  readonly empty: TemplateResult | string;
}

export function table<Row>(options: TableOptions<Row>): TemplateResult {
  const { label, rows, columns, href, pagination, view, empty } = options;
  const isFiltered = [...view.query.keys()].length > 0;
  if (rows.length === 0) {
    return html`<div class="empty">
      ${
        isFiltered
          ? html`<p>${common.noMatch}</p>
              <a class="button" href=${location.pathname}>${common.clearFilters}</a>`
          : empty
      }
    </div>`;
  }
  const cell = (row: Row, { label: name, cell: content, isNumber }: Column<Row>, index: number) => {
    const inner = content(row);
    const shown = index === 0 && href ? html`<a href=${href(row)}>${inner}</a>` : inner;
    return html`<td
      data-label=${name}
      class=${isNumber ? 'number' : nothing}
      translate=${isValue(shown) ? 'no' : nothing}
    >
      ${shown}
    </td>`;
  };
  return html`<div class="scroll">
      <table aria-label=${label}>
        <thead>
          <tr>
            ${columns.map(
              ({ label: name, isNumber }) =>
                html`<th scope="col" class=${isNumber ? 'number' : nothing}>${name}</th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              html`<tr>
                ${columns.map((column, index) => cell(row, column, index))}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${pagination ? pages(pagination, view) : nothing}`;
}

function pages({ total, from, to }: Pagination, view: View): TemplateResult {
  const current = Number(view.query.get('page') ?? 1);
  return html`<nav class="pages" aria-label=${common.pages}>
    <span>${common.rows(from, to, total)}</span>
    <button
      ?disabled=${current <= 1}
      @click=${() => view.filter({ page: current > 2 ? current - 1 : undefined })}
    >
      ${common.newer}
    </button>
    <button ?disabled=${to >= total} @click=${() => view.filter({ page: current + 1 })}>
      ${common.older}
    </button>
  </nav>`;
}
