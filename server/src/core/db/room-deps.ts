/** The dependencies of nearly every room's rules. */
import type { Logger } from 'pino';
import type { Currencies } from '../money/currencies.js';
import type { Clock } from '../shared/clock.js';
import type { NewId } from '../shared/ids.js';
import type { Database } from './database.js';

export interface RoomDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly currencies: Currencies;
  readonly log: Logger;
}
