/** Work on payments that need a person, in the console: notes, who takes care of it, and that it is handled. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { described, id, requiredText, text, timestamp } from './fields.js';

const sampleTime = '2026-01-01T00:00:00.000Z';
const samplePaymentId = '01J9ZQ3C0D1E2F3G4H5J6K7M8N';
const samplePerson = { id: '01J9ZQ8A0B1C2D3E4F5G6H7J8K', email: 'ada@shop.example' };

/** The longest text of a note. */
const longestNote = 2000;

export const caseNoteKinds = ['note', 'assigned', 'given_back', 'handled', 'reopened'] as const;
export type CaseNoteKind = (typeof caseNoteKinds)[number];

const note = z.object({
  id: z.string(),
  /** `note`: only a text. The others are changes, with or without one; `assigned` names the assignee's e-mail address. */
  kind: z.enum(caseNoteKinds),
  text: z.string(),
  /** The author's e-mail address; null if the person has left the team. */
  by: z.nullable(z.string()),
  at: timestamp,
});

const paymentCase = z.object({
  paymentId: z.string(),
  /** The person in charge; null if nobody is. */
  assignee: z.nullable(z.object({ id: z.string(), email: z.string() })),
  /** True until something happens to the payment again, such as more money. */
  isHandled: z.boolean(),
  /** Oldest first. */
  notes: z.array(note),
});
export type PaymentCase = z.output<typeof paymentCase>;

const assigned = z.object({
  paymentId: z.string(),
  txRef: z.string(),
  assignedAt: timestamp,
});

const sampleNote = {
  id: '01J9ZQ9N0R1S2T3V4W5X6Y7Z8B',
  kind: 'note' as const,
  text: 'She sends the rest on Monday',
  by: samplePerson.email,
  at: sampleTime,
};
const sampleCase: PaymentCase = {
  paymentId: samplePaymentId,
  assignee: samplePerson,
  isHandled: false,
  notes: [sampleNote],
};
const handled = {
  ...sampleCase,
  isHandled: true,
  notes: [sampleNote, { ...sampleNote, kind: 'handled' as const, text: 'Settled in the shop' }],
};

const params = z.object({ payment_id: described(id, 'Id of the payment.') });
const sampleParams = { payment_id: samplePaymentId };

export const cases = {
  retrieve: endpoint({
    method: 'GET',
    path: '/console/api/cases/{payment_id}',
    key: 'session',
    description: 'Returns the notes about a payment, who takes care of it, and if it is handled.',
    params,
    data: paymentCase,
    sample: { params: sampleParams, message: 'Case fetched', data: sampleCase },
  }),
  listMine: endpoint({
    method: 'GET',
    path: '/console/api/cases',
    key: 'session',
    description:
      'Lists the payments that the person who asks takes care of, oldest first, without those that are handled: at most 100.',
    data: z.array(assigned),
    sample: {
      message: 'Cases fetched',
      data: [{ paymentId: samplePaymentId, txRef: 'order-42', assignedAt: sampleTime }],
    },
  }),
  addNote: endpoint({
    method: 'POST',
    path: '/console/api/cases/{payment_id}/notes',
    key: 'session',
    description:
      'Adds a note about a payment, which only the shop’s staff can read. A payment has 200 at most.',
    params,
    body: z.object({ text: described(requiredText(longestNote), 'The note.') }),
    data: paymentCase,
    errors: ['invalid_state'],
    sample: {
      params: sampleParams,
      body: { text: sampleNote.text },
      message: 'Note added',
      data: sampleCase,
    },
  }),
  assign: endpoint({
    method: 'PATCH',
    path: '/console/api/cases/{payment_id}',
    key: 'session',
    description: 'Says who of the team takes care of a payment.',
    params,
    body: z.object({ personId: described(z.nullable(id), 'Id of the person. Null: nobody.') }),
    data: paymentCase,
    errors: ['invalid_state'],
    sample: {
      params: sampleParams,
      body: { personId: samplePerson.id },
      message: 'Case assigned',
      data: sampleCase,
    },
  }),
  handle: endpoint({
    method: 'POST',
    path: '/console/api/cases/{payment_id}/handle',
    key: 'session',
    description:
      'Marks a payment as handled: it no longer needs a person, until something happens to it again. Moves no money.',
    params,
    body: z.object({ note: described(requiredText(longestNote), 'The action taken.') }),
    data: paymentCase,
    errors: ['invalid_state'],
    sample: {
      params: sampleParams,
      body: { note: 'Settled in the shop' },
      message: 'Payment handled',
      data: handled,
    },
  }),
  reopen: endpoint({
    method: 'POST',
    path: '/console/api/cases/{payment_id}/reopen',
    key: 'session',
    description: 'Undoes that a payment is handled.',
    params,
    body: z.object({ note: described(z._default(text(longestNote), ''), 'The reason.') }),
    data: paymentCase,
    errors: ['invalid_state'],
    sample: { params: sampleParams, body: { note: '' }, message: 'Payment reopened', data: sampleCase },
  }),
};
