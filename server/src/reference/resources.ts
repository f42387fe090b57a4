/** The title and description of each API resource, for the docs. */
import type { Api } from 'crypto-checkout/contract';
import texts from './texts.json' with { type: 'json' };

export interface Resource {
  readonly title: string;
  /** One of them, for titles such as `Create payment`. */
  readonly noun: string;
  readonly description: string;
}

/** In the order of the docs: payments first, and last what describes and simulates. The sandbox has a table of its own. */
export const resources: Readonly<Record<keyof Api | 'sandbox', Resource>> = texts.resources;
