/** The pages that a module adds to those of the server. */
import type { Router } from 'express';

/** The facts that are known only when a server starts. */
export interface Start {
  /** The oldest account; undefined if there is none. */
  readonly merchantId: string | undefined;
}

export interface Pages {
  readonly router: Router;
  /** The pages to open, by the name that the server prints when it starts. */
  readonly links: Readonly<Record<string, string>>;
  /** Links that only the server prints, in place of those of the same name: they let their reader in. */
  readonly printed?: Readonly<Record<string, string>>;
}
