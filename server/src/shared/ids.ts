/** Record ids: 128 random bits as 26 characters of Crockford's base32. */
import { randomBytes } from 'node:crypto';
import { base32crockford } from '@scure/base';

export type NewId = () => string;

export const newId: NewId = () => base32crockford.encode(randomBytes(16));
