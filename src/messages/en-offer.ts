/**
 * The English text of the line below the pay button. It ships with the line's code, since a page in English loads no
 * other texts.
 */
import type { TextValues } from './plural.js';

export const enOffer = {
  offer: ({ coins }: TextValues) =>
    `{coins} ${coins === 1 ? 'coin' : 'coins'} · no account · price fixed for {minutes} min`,
} as const;
