/**
 * Statements that travel to PostgreSQL, and are answered, together. If one fails, PostgreSQL skips the rest: nothing
 * behind a BEGIN that failed is written.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
import pg from 'pg';

/** The calls that pg's client makes for each answer, and its types lack. */
interface Answered {
  readonly name?: string | undefined;
  readonly text: string;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
  submit(connection: Connection): Error | null;
}
type Connection = pg.Connection & {
  /** Statements that PostgreSQL has prepared, and those sent to be prepared, by name. */
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  close(what: { readonly type: 'S'; readonly name: string }): void;
};

/** A query of pg with the fields that its types lack. */
type Prepared = pg.Query &
  Answered & { name: string; queryMode: string; _result: { _types: pg.CustomTypesConfig } };

/**
 * A query that pg prepares, if only for one use. pg copies a config with the descriptors of its properties, which takes longer than all else
 * that it does for a query: so it gets the text, and the rest is set as pg itself would.
 */
function prepare(
  { text, values, name }: pg.QueryConfig,
  types: pg.CustomTypesConfig,
  settle: (error: Error | undefined, result: pg.QueryResult) => void,
): Prepared {
  const Made = pg.Query as unknown as new (...args: unknown[]) => Prepared;
  const query = new Made(text, values, settle);
  if (name !== undefined) query.name = name;
  query.queryMode = 'extended';
  query._result._types = types;
  return query;
}

/** Views of connections that send no Sync after each statement. */
const unsynced = new WeakMap<Connection, Connection>();

function withoutSync(connection: Connection): Connection {
  const known = unsynced.get(connection);
  if (known) return known;
  const made = Object.create(connection, { sync: { value: () => undefined } }) as Connection;
  unsynced.set(connection, made);
  return made;
}

/** pg sends only its own queries in a pipeline, and asks for an answer to each. To pg, this is one query. */
export class Flight extends pg.Query {
  /** The name of the statement that is answered next. */
  declare name: string | undefined;
  declare text: string;
  /** Ends the timer that pg sets if the URL has a `query_timeout`. */
  declare callback: (() => void) | undefined;
  /** Statements that have not failed, and whose callers wait. */
  #statements: Answered[] = [];
  #answered = 0;
  #failure: Error | undefined;
  /** The name of a statement that is not prepared any more. */
  #closed: string | undefined;
  readonly #types: pg.CustomTypesConfig;

  /** @param types read the values of its answers */
  constructor(types: pg.CustomTypesConfig) {
    super({ text: '' });
    this.#types = types;
  }

  add(config: pg.QueryConfig): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      const settle = (error: Error | undefined, result: pg.QueryResult) => {
        this.#failure ??= error;
        if (error) reject(error);
        else resolve(result);
      };
      this.#statements.push(prepare(config, this.#types, settle));
    });
  }

  override submit = (connection: pg.Connection): null => {
    const real = connection as Connection;
    const shared = withoutSync(real);
    real.stream.cork();
    for (const [place, statement] of this.#statements.entries()) {
      const error = statement.submit(shared) ?? this.#failure;
      if (!error) continue;
      // Its values cannot be written, and pg has closed it at PostgreSQL. Nothing behind it may be written either.
      this.#closed = statement.name;
      for (const unsent of this.#statements.splice(place)) unsent.handleError(error, real);
      break;
    }
    real.sync();
    real.stream.uncork();
    this.#next();
    return null;
  };

  handleRowDescription(message: unknown): void {
    this.#statements[this.#answered]?.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#statements[this.#answered]?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    this.#statements[this.#answered]?.handleCommandComplete(message, connection);
    this.#answered += 1;
    this.#next();
  }

  handleEmptyQuery(): void {
    this.#answered += 1;
    this.#next();
  }

  handleError(error: Error, connection: Connection): void {
    const failed = this.#statements.splice(this.#answered);
    this.handleReadyForQuery(connection);
    for (const statement of failed) {
      const { name } = statement;
      if (name !== undefined && connection.parsedStatements[name] === undefined) forget(name, connection);
      statement.handleError(error, connection);
    }
  }

  /** Only now is the connection free: a caller gets its result no earlier. */
  handleReadyForQuery(connection: Connection): void {
    if (this.#closed !== undefined) forget(this.#closed, connection);
    for (const statement of this.#statements.splice(0)) statement.handleReadyForQuery(connection);
    this.callback?.();
  }

  #next(): void {
    const statement = this.#statements[this.#answered];
    this.name = statement?.name;
    this.text = statement?.text ?? '';
  }
}

/**
 * pg would take a statement that PostgreSQL skipped for prepared. A pooler has seen it, and would refuse its name the next time: so it
 * is closed, and prepared again when it is needed.
 */
function forget(name: string, connection: Connection): void {
  Reflect.deleteProperty(connection.submittedNamedStatements, name);
  Reflect.deleteProperty(connection.parsedStatements, name);
  connection.close({ type: 'S', name });
}
