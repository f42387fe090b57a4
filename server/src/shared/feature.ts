/** What a room that works by itself offers to the server, which runs it without knowing its parts. */

/** Work that is done at intervals rather than on request. */
export interface Job {
  readonly name: string;
  readonly intervalMs: number;
  run(signal: AbortSignal): Promise<void>;
}

export interface Feature {
  /**
   * Prepares what only a server needs, and commands do not. Called once, before the jobs are read.
   * @throws StartError
   */
  prepare?(signal: AbortSignal): Promise<void>;
  jobs(): readonly Job[];
  /** What does not work, though the server can serve. `/readyz` says it. */
  notices?(): readonly string[];
}
