/** A table of records: columns on a wide screen; on a narrow one, a row of two lines or a card. */
import { html, nothing, type TemplateResult } from 'lit';
import { isValue } from '../format.js';
import { common } from '../messages/common.js';
import type { View } from '../page.js';

/**
 * The widths of a column by its content, padding included. Text, hashes and tags may become narrower than they are, and
 * are cut then; an amount, a time and a button never. All grow with the page.
 */
const widths = {
  text: 'minmax(6.5rem, auto)',
  /** Sentences: the only cells that grow in height. */
  prose: 'minmax(12rem, 1fr)',
  /** Aligned to the end of the line, so that digits line up. */
  money: 'minmax(max-content, auto)',
  time: 'minmax(max-content, auto)',
  hash: 'minmax(9rem, auto)',
  status: 'minmax(8rem, auto)',
  /** Stays in view while the rest of a table is scrolled sideways. */
  actions: 'max-content',
} as const;
/** The first column says what a row is about. */
const leadWidth = 'minmax(8.5rem, auto)';
type Kind = keyof typeof widths;

export interface Column<Row> {
  readonly label: string;
  readonly cell: (row: Row) => unknown;
  /** Text by default. */
  readonly kind?: Kind;
}

export interface TableOptions<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** The page of a row: the whole row is a link to it. */
  readonly href?: ((row: Row) => string) | undefined;
  /** The names in the address that select the rows; none by default. */
  readonly filters?: readonly string[];
  readonly view: View;
  /** The hint, and the action, while there are no rows. */
  readonly empty: TemplateResult | string;
  /** Shown in its place if the filters select work that waits: all of it is done. */
  readonly done?: string | false | undefined;
}

/** The columns of a narrow row, in this order: the first column, a sum, a status and a time. Its page has the rest. */
function placesIn<Row>(columns: readonly Column<Row>[]): readonly string[] {
  const firstOf = (kind: Kind) => columns.findIndex((one, index) => index > 0 && one.kind === kind);
  const [sum, time] = [firstOf('money'), firstOf('time')];
  const status = (['status', 'text', 'hash'] as const).map(firstOf).find((index) => index > 0);
  return columns.map((_column, index) =>
    index === 0 ? 'lead' : index === sum ? 'sum' : index === status ? 'state' : index === time ? 'when' : '',
  );
}

// Browsers forget what a table is when its style lays it out as something else: the roles say it.
export function table<Row>(options: TableOptions<Row>): TemplateResult {
  const { label, rows, columns, href, view, empty, done } = options;
  // Other names in the address belong to other lists of the page.
  const asked = [...view.query];
  const others = asked.filter(([name]) => !options.filters?.includes(name));
  const isFiltered = others.length < asked.length;
  if (rows.length === 0) {
    return html`<div class="empty">
      ${
        isFiltered
          ? html`<p class=${done ? 'calm' : nothing}>${done ? `✓ ${done}` : common.noMatch}</p>
              <a class="button" href="?${new URLSearchParams(others)}">${common.clearFilters}</a>`
          : empty
      }
    </div>`;
  }
  const places = placesIn(columns);
  const cell = (row: Row, { label: name, cell: content, kind = 'text' }: Column<Row>, index: number) => {
    const inner = content(row);
    const shown = index === 0 && href ? html`<a class="row" href=${href(row)}>${inner}</a>` : inner;
    return html`<td
      role="cell"
      data-label=${name}
      class="${kind} ${places[index]} ${inner === nothing ? 'void' : ''}"
      dir=${kind === 'text' ? 'auto' : nothing}
      translate=${isValue(inner) ? 'no' : nothing}
    >
      ${shown}
    </td>`;
  };
  const tracks = columns
    .map(({ kind = 'text' }, index) => (index === 0 && kind === 'text' ? leadWidth : widths[kind]))
    .join(' ');
  return html`<div class="scroll">
    <table
      role="table"
      class=${href ? 'linked' : 'cards'}
      aria-label=${label}
      .style=${`--columns: ${tracks}`}
    >
      <thead>
        <tr role="row">
          ${columns.map(
            ({ label: name, kind = 'text' }) =>
              html`<th scope="col" role="columnheader" class=${kind}>${name}</th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr role="row">
              ${columns.map((column, index) => cell(row, column, index))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
