/** The English text of the line below the pay button: it comes with what draws the line, since a page in English loads no other. */
import type { TextValues } from './plural.js';

export const enOffer = {
  offer: ({ coins }: TextValues) =>
    `{coins} ${coins === 1 ? 'coin' : 'coins'} · no account · price fixed for {minutes} min`,
} as const;
