/** Whose records a caller may see: those of one merchant in one mode. */
import type { Mode } from './db/schema.js';

export interface Scope {
  readonly merchantId: string;
  readonly mode: Mode;
}
