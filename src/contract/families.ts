/** Families of networks: those of one family share the form of their addresses, and their deposit keys. `npm run lists` writes this file from `server/src/core/families/`. */
export const families = ['bitcoin', 'evm', 'litecoin', 'tron'] as const;
export type Family = (typeof families)[number];
