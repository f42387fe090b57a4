/** The filters of the audit log: the console's page and the server's command have the same. */
import * as z from 'zod/mini';
import { described, listQuery, requiredText } from './fields.js';

export const auditLogQuery = listQuery({
  person: described(z.optional(requiredText()), 'Only what this person did, by id.'),
  action: described(z.optional(requiredText()), 'Only this action, such as `refund.approved`.'),
});
