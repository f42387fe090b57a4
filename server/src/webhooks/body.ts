/** The body of a webhook: the same in every attempt, byte for byte. */
import { isoTime } from '../shared/clock.js';
import type { OutboxTable } from '../db/schema.js';

export function bodyOf({
  type,
  created_at: createdAt,
  data,
}: Pick<OutboxTable, 'type' | 'created_at' | 'data'>): string {
  return `{"type":${JSON.stringify(type)},"timestamp":"${isoTime(createdAt)}","data":${data}}`;
}
