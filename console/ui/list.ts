/** Lists of the contract: from an endpoint with its columns and filters follow the read, the bar, the table and the page. */
import { html, nothing, type TemplateResult } from 'lit';
import type * as z from 'zod/mini';
import type { Endpoint, Pagination } from '../../src/contract/endpoint.js';
import { common } from '../messages/common.js';
import { page, type Page, type View } from '../page.js';
import { askedRange, periodNames } from '../period.js';
import { button } from './button.js';
import { emptyHint, type NextStep } from './empty.js';
import { filterBar, type FilterField } from './filter-bar.js';
import { periodFields } from './period.js';
import { table, type Column } from './table.js';

/** An endpoint that lists records, page by page. */
interface ListEndpoint<Row, Query extends object> extends Endpoint {
  readonly paginated: true;
  readonly query: z.ZodMiniObject & { readonly _zod: { readonly input: Query } };
  readonly data: z.ZodMiniType & { readonly _zod: { readonly output: readonly Row[] } };
}

export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly pagination: Pagination | undefined;
  /** The query of the view that read them: a view with another one still waits for its rows. */
  readonly query?: URLSearchParams;
}

type Options = NonNullable<FilterField['options']>;

interface Filter<Query, Data> extends Omit<FilterField, 'options'> {
  /** Those that depend on the rows are computed from the data. */
  readonly options?: Options | ((data: Data, view: View) => Options);
  /** The part of the query that a value in the address stands for; undefined for none. */
  readonly ask: (value: string) => Query | undefined;
}

/** A filter with few values. Any other value in the address selects nothing. */
export function choice<Value extends string, Query>(
  name: string,
  label: string,
  options: Readonly<Record<Value, string>>,
  ask: (value: Value) => Query,
): Filter<Query, unknown> {
  const isKnown = (value: string): value is Value => Object.hasOwn(options, value);
  return {
    name,
    label,
    options: Object.entries<string>(options),
    ask: (value) => (isKnown(value) ? ask(value) : undefined),
  };
}

interface Declaration<Row, Query, Data> {
  /** The name of the table. */
  readonly label: string;
  /**
   * The name of the page number in the address: `page` by default. Further lists of one page have a name each, so that
   * each of them has its own pages. A filter starts `page` again, so these have no filters.
   */
  readonly pageName?: string;
  readonly filters?: readonly Filter<Query, Data>[];
  /** It also has a period, as every list of the API does. */
  readonly hasPeriod?: true;
  readonly columns: (view: View, data: Data) => readonly Column<Row>[];
  /** The page of a row: the whole row is a link to it. */
  readonly href?: ((row: Row, view: View) => string) | undefined;
}

interface List<Row, Query, Data extends Rows<Row>> {
  /** The filters in the address, as the endpoint takes them. */
  readonly asked: (view: Pick<View, 'query'>) => Partial<Query>;
  /** @param of asked in addition to the filters */
  readonly load: (view: View, of?: Partial<Query>) => Promise<Rows<Row>>;
  /** The fields of the filters; nothing if there are none. */
  readonly fields: (data: Data, view: View) => TemplateResult | typeof nothing;
  /** The same above a table, with the page's actions. */
  readonly bar: (data: Data, view: View, actions?: TemplateResult) => TemplateResult;
  /**
   * @param empty shown while there are no rows
   * @param done shown instead if the filters select work that waits
   */
  readonly table: (
    data: Data,
    view: View,
    empty: TemplateResult | string,
    done?: string | false,
  ) => TemplateResult;
}

/** The time in which the rows of another page come. */
const readOutMs = 5000;

type Press = Event & { readonly currentTarget: Element };

/** The button keeps the focus; the list's heading comes into view, and the new range is read out. */
function showTop({ currentTarget }: Press): void {
  const nav = currentTarget.parentElement;
  const range = nav?.querySelector('span');
  // Only for a while: a list that others add to would be read out all the time.
  range?.setAttribute('role', 'status');
  setTimeout(() => range?.removeAttribute('role'), readOutMs);
  nav?.closest('section, main')?.querySelector('h1, h2')?.scrollIntoView({ block: 'nearest' });
}

/**
 * The range that is shown, and the buttons for others; nothing if one page has all rows.
 * @param pageName the name of the page number in the address
 * @param before the text of the button to the page before this one
 */
export function pager<Row>(
  { pagination, query: read }: Rows<Row>,
  view: View,
  label: string,
  pageName: string,
  before = common.newer,
  after = common.older,
): TemplateResult | typeof nothing {
  if (!pagination?.from) return nothing;
  const { total, from, to } = pagination;
  if (from === 1 && to >= total) return nothing;
  const { query } = view;
  const current = Number(query.get(pageName) ?? 1);
  // A filter starts `page` again. Here, another list of the page keeps its place.
  const page = query.get('page') ?? '';
  // At the end of the list, the button that was pressed keeps the focus: a disabled one would lose it.
  const turner = (text: string, number: number, isEnd: boolean) => {
    // Rows of an earlier address do not say if this one has a next page.
    const isOff = isEnd || read !== query;
    const turn = (event: Press) => {
      if (isOff) return;
      showTop(event);
      view.filter({ page, [pageName]: number > 1 ? number : '' });
    };
    return html`<button aria-disabled=${isOff} @click=${turn}>${text}</button>`;
  };
  return html`<nav class="pages" aria-label="${label}: ${common.pages}">
    <span>${common.rows(from, to, total)}</span>
    ${turner(before, current - 1, current < 2)} ${turner(after, current + 1, to >= total)}
  </nav>`;
}

/** @typeParam Data the rows, and what else the columns and filters are computed from */
export function listOf<Row, Query extends object, Data extends Rows<Row> = Rows<Row>>(
  endpoint: ListEndpoint<Row, Query>,
  declaration: Declaration<NoInfer<Row>, NoInfer<Query>, Data>,
): List<Row, Query, Data> {
  const {
    label,
    pageName = 'page',
    filters = [],
    hasPeriod,
    columns,
    href,
  }: Declaration<Row, Query, Data> = declaration;
  const read: Endpoint & Pick<ListEndpoint<Row, Query>, 'data'> = endpoint;
  const names = [pageName, ...filters.map(({ name }) => name), ...(hasPeriod ? periodNames : [])];

  function asked({ query }: Pick<View, 'query'>): Partial<Query> {
    let found: Partial<Query> = {};
    for (const { name, ask } of filters) {
      const value = query.get(name);
      if (value) found = { ...found, ...ask(value) };
    }
    return found;
  }

  function fields(data: Data, view: View): TemplateResult | typeof nothing {
    if (filters.length === 0 && !hasPeriod) return nothing;
    const shown = filters.map((one) => ({
      ...one,
      options: typeof one.options === 'function' ? one.options(data, view) : one.options,
    }));
    return filterBar(view, shown, hasPeriod ? periodFields(view) : nothing);
  }

  return {
    asked,
    async load(view, of) {
      const { api, query, signal } = view;
      const page = query.get(pageName) ?? '';
      const input = { page, ...(hasPeriod && askedRange(view)), ...asked(view), ...of };
      const { data: rows, pagination } = await api(read, { query: input }, signal);
      return { rows, pagination, query };
    },
    fields,
    bar: (data, view, actions) =>
      html`<div class="bar">
        ${fields(data, view)} ${actions ? html`<div class="actions">${actions}</div>` : nothing}
      </div>`,
    table: (data, view, empty, done) =>
      html`${table<Row>({
        label,
        rows: data.rows,
        filters: names,
        view,
        columns: columns(view, data),
        href: href && ((row) => href(row, view)),
        empty,
        done,
      })}
      ${pager(data, view, label, pageName)}`,
  };
}

/** A form for a new record: the page's main button, the next step while there is none, and an action of the address. */
interface Creation {
  /** The page itself, by its name. */
  readonly page: string;
  readonly text: string;
  /** The call that makes it. */
  readonly permission: string;
  readonly run: (view: View) => Promise<unknown>;
  /** Further actions, before the button. */
  readonly others?: (view: View) => TemplateResult | typeof nothing;
}

interface ListPage {
  readonly title: string;
  /** The hint while there are no rows. */
  readonly empty: string;
  /** The next step then, if it is not a new record. */
  readonly next?: NextStep;
  readonly create?: Creation;
  /** Said if the filters select work that waits, and all of it is done. */
  readonly done?: (view: View) => string | false;
  /** Shown under the table. */
  readonly under?: (view: View) => TemplateResult;
  readonly everyMs?: number;
}

/** A page that is one list. */
export function listPage<Row, Query>(
  list: List<Row, Query, Rows<Row>>,
  { title, empty, next, create, done, under, everyMs }: ListPage,
): Page {
  const step = create && { ...create, query: { do: 'create' } };
  const actionsOf = (view: View) =>
    create &&
    html`${create.others?.(view)} ${button(view, { ...create, kind: 'main', run: () => create.run(view) })}`;
  return page<Rows<Row>>({
    title: () => title,
    load: (view) => list.load(view),
    render: (data, view) =>
      html`${list.bar(data, view, actionsOf(view))}
      ${list.table(data, view, emptyHint(view, empty, step ?? next), done?.(view))} ${under?.(view)}`,
    actions: create && { create: create.run },
    everyMs,
  });
}
