/** The parts of a room or a module that a server runs, without knowing what they do. */
import type { Mode } from './scope.js';

/** Work that is done at intervals rather than on request. */
export interface Job {
  readonly name: string;
  readonly intervalMs: number;
  run(signal: AbortSignal): Promise<void>;
}

type Labels = Readonly<Record<string, string>>;
/** A value that is undefined is left out. */
export type Sample = readonly [labels: Labels, value: number | undefined];

/** Values that `/metrics` shows, read when it is scraped. */
export interface Figure {
  readonly name: string;
  readonly help: string;
  /** The names of their labels. */
  readonly labels: readonly string[];
  /** True if they only rise. */
  readonly isCounter?: true;
  /** Set for a figure of networks, whose values are 0 where none is read: the possible values of its other labels. */
  readonly zeroFor?: Readonly<Record<string, readonly string[]>>;
  read(): readonly Sample[] | Promise<readonly Sample[]>;
}

/** A number of each network. A network that is left out has 0. */
interface NetworkFigure {
  readonly name: string;
  readonly help: string;
  /** Labels in addition to mode and network, and their possible values. */
  readonly by?: Readonly<Record<string, readonly string[]>>;
  read(): Promise<
    readonly (readonly [
      of: { readonly mode: Mode; readonly network: string },
      value: number,
      by?: Readonly<Record<string, string>>,
    ])[]
  >;
}

export const byNetwork = ({ name, help, by = {}, read }: NetworkFigure): Figure => ({
  name,
  help,
  labels: ['mode', 'network', ...Object.keys(by)],
  zeroFor: by,
  read: async () =>
    (await read()).map(([{ mode, network }, value, more]) => [{ mode, network, ...more }, value]),
});

export interface Feature {
  /**
   * Prepares what only a server needs, and commands do not. Called once, before the jobs are read.
   * @throws StartError
   */
  prepare?(signal: AbortSignal): void | Promise<void>;
  /** Called once, when the server starts. */
  jobs?(): readonly Job[];
  /** Reasons why the server cannot do its work: `/readyz` is 503 while there is any. */
  stops?(): readonly string[];
  /** Problems that do not keep the server from serving. `/readyz` reports them. */
  notices?(): readonly string[];
  figures?(): readonly Figure[];
}
