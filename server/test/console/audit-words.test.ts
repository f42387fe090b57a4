/** The console says each action of the audit log in words. */
import { expect, it } from 'vitest';
import { texts, type DescribedAction } from '../../../console/messages/audit.js';
import type { AuditAction } from '../../src/core/merchants/audit-log.js';
import '../../src/modules.js';

/** Does not compile while an action has no sentence. */
const isComplete: Exclude<AuditAction, DescribedAction> extends never ? true : false = true;

const nothing = { fields: {}, before: {}, after: {}, named: '', sum: '' };

it.each(Object.entries(texts.sentences))(
  '%s is a sentence without gaps, even of an entry without fields',
  (_action, say) => {
    expect(isComplete).toBe(true);
    const sentence = say(nothing);
    expect(sentence).toMatch(/^[a-z][^{}]*(\{[^{}]*\}[^{}]*)?$/);
    expect(sentence).not.toMatch(/undefined|NaN|\[object/);
  },
);

it('a sentence names the sum, the person and the fields that were changed', () => {
  expect(texts.sentences['refund.approved']({ ...nothing, sum: '18.38 USDT' })).toBe(
    'approved a {refund} of 18.38 USDT',
  );
  const after = { role: 'manager', dailyRefunds: {}, logo: '' };
  const changed = { ...nothing, named: 'bob@shop.example', before: { role: 'support' }, after };
  expect(texts.sentences['person.role_changed'](changed)).toBe(
    'changed the role of {bob@shop.example} from support to manager',
  );
  expect(texts.sentences['merchant.updated']({ ...nothing, after: { dailyRefunds: {}, logo: '' } })).toBe(
    'changed the {settings}: refunds a day, logo',
  );
});
