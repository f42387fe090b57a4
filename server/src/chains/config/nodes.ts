/** The URLs of a network's nodes: fills in what the environment keeps for them. They hold credentials and are never shown. */
import type { NetworkRef } from '../chain.js';

/** How the nodes of a network are asked. */
export interface NodesConfig extends NetworkRef {
  /** JSON-RPC URLs in order of preference. They can contain credentials: never shown. */
  readonly nodes: readonly string[];
  /** Sent with each request, such as a provider's key. Never shown. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The usual time between blocks; undefined for chains that make blocks only on demand. */
  readonly blockTimeMs?: number | undefined;
  /** How long one request may take: by default 15 seconds, and 30 for the large blocks of Bitcoin's kind. */
  readonly timeoutMs?: number | undefined;
  /** What all nodes together may be asked in a minute, each call of a batch counted; no limit by default. */
  readonly requestsPerMinute?: number | undefined;
}

const variable = /\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g;

type Environment = Readonly<Record<string, string | undefined>>;

/** The names in `{env:NAME}` that the environment does not have. */
export function missingVariables(text: string, environment: Environment): string[] {
  return [...text.matchAll(variable)].map(([, name = '']) => name).filter((name) => !environment[name]);
}

/** Replaces each `{env:NAME}`. */
export function fillVariables(text: string, environment: Environment): string {
  return text.replace(variable, (_, name: string) => environment[name] ?? '');
}

export function isNodeUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
