/** The interface that a room with jobs of its own offers to the server, which runs it without knowing its parts. */
import type { Mode } from './scope.js';

/** Work that is done at intervals rather than on request. */
export interface Job {
  readonly name: string;
  readonly intervalMs: number;
  run(signal: AbortSignal): Promise<void>;
}

/** A number of each network that `/metrics` shows, read when it is scraped. A network that is left out has 0. */
export interface Figure {
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

export interface Feature {
  /**
   * Prepares what only a server needs, and commands do not. Called once, before the jobs are read.
   * @throws StartError
   */
  prepare?(signal: AbortSignal): void | Promise<void>;
  jobs(): readonly Job[];
  /** Why the server does not do what it is for: `/readyz` is 503 while there is any. */
  stops?(): readonly string[];
  /** Problems that do not keep the server from serving. `/readyz` reports them. */
  notices?(): readonly string[];
  figures?(): readonly Figure[];
}
