/** E-mail: the messages that a merchant's payers get, and those that each person of its team gets. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { described, id, requiredText, text } from './fields.js';

export const payerMailKinds = [
  'receipt',
  'part',
  'over',
  'late',
  'short',
  'wrong',
  'reversed',
  'refundLink',
  'refundPaid',
  'due',
  'reminder',
  'overdue',
] as const;
export type PayerMailKind = (typeof payerMailKinds)[number];

export const staffMailKinds = [
  'needsPerson',
  'refundToApprove',
  'webhookFailing',
  'nodeBehind',
  'shortage',
  'signIn',
  'newKey',
  'digest',
] as const;
export type StaffMailKind = (typeof staffMailKinds)[number];

const payerKinds = z.array(z.enum(payerMailKinds));
const staffKinds = z.array(z.enum(staffMailKinds));
const language = described(requiredText(10), 'One of `languages`.');
const kindsText = 'The messages; an empty list for none.';

const payers = z.object({
  /** False while the server has no mail server: nothing is sent, whatever is chosen. */
  isOn: z.boolean(),
  kinds: payerKinds,
  language: z.string(),
  languages: z.array(z.string()),
  /** The address for answers; empty for the address that messages come from. */
  replyTo: z.string(),
});
const own = z.object({
  isOn: z.boolean(),
  kinds: staffKinds,
  /** The kinds about records that the person's role may see. */
  offered: staffKinds,
  language: z.string(),
  languages: z.array(z.string()),
});

const samplePayers = {
  isOn: true,
  kinds: ['receipt', 'part'] as ('receipt' | 'part')[],
  language: 'en',
  languages: ['en', 'fr'],
  replyTo: 'help@shop.example',
};
const sampleOwn = {
  isOn: true,
  kinds: ['signIn'] as 'signIn'[],
  offered: ['needsPerson', 'signIn'] as ('needsPerson' | 'signIn')[],
  language: 'en',
  languages: ['en', 'fr'],
};

const payerMail = {
  retrieve: endpoint({
    method: 'GET',
    path: '/console/api/mail/payers',
    key: 'session',
    description: 'Returns which messages the payers of the mode get.',
    data: payers,
    sample: { message: 'Choices fetched', data: samplePayers },
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/console/api/mail/payers',
    key: 'session',
    // The receiver of payers' answers can ask them for money.
    stepUp: true,
    description: 'Chooses which messages the payers of the mode get, and who gets their answers.',
    body: z.object({
      kinds: described(payerKinds.check(z.maxLength(payerMailKinds.length)), kindsText),
      language,
      replyTo: described(text(254), 'An e-mail address for answers, or empty.'),
    }),
    data: payers,
    sample: {
      body: { kinds: samplePayers.kinds, language: 'en', replyTo: samplePayers.replyTo },
      message: 'Choices saved',
      data: samplePayers,
    },
  }),
};

const ownMail = {
  retrieve: endpoint({
    method: 'GET',
    path: '/console/api/mail/own',
    key: 'session',
    description: 'Returns which messages the signed-in person gets about the mode.',
    data: own,
    sample: { message: 'Choices fetched', data: sampleOwn },
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/console/api/mail/own',
    key: 'session',
    description: 'Chooses which messages the signed-in person gets about the mode.',
    body: z.object({
      kinds: described(staffKinds.check(z.maxLength(staffMailKinds.length)), kindsText),
      language,
    }),
    data: own,
    sample: { body: { kinds: sampleOwn.kinds, language: 'en' }, message: 'Choices saved', data: sampleOwn },
  }),
};

const receiptState = z.object({
  /** The payer's address; null if the payment has none. */
  to: z.nullable(z.string()),
  /**
   * Null if the receipt can be sent. `off`: the server has no mail server; `unpaid`: the payment is not paid;
   * `no_address`; `unwanted`: the payer has ended the shop's messages.
   */
  blockedBy: z.nullable(z.enum(['off', 'unpaid', 'no_address', 'unwanted'])),
  /** The newest message with it, sent or about to be, by a person or automatically; null if there is none. */
  last: z.nullable(z.object({ id: z.string(), secondsAgo: z.int(), isSent: z.boolean() })),
});
const receiptParams = z.object({ payment_id: described(id, 'Id of the payment.') });
const receiptSample = { payment_id: '01J9ZQ3C0D1E2F3G4H5J6K7M8N' };
const last = { id: '01J9ZQ3D1E2F3G4H5J6K7M8N9P', secondsAgo: 120, isSent: true };
const sampleReceipt = { to: 'grace@example.com', blockedBy: null, last };

const receiptMail = {
  retrieve: endpoint({
    method: 'GET',
    path: '/console/api/mail/receipts/{payment_id}',
    key: 'session',
    description: 'Says if the receipt of a payment can be sent by e-mail, and to which address.',
    params: receiptParams,
    data: receiptState,
    sample: { params: receiptSample, message: 'Receipt fetched', data: sampleReceipt },
  }),
  send: endpoint({
    method: 'POST',
    path: '/console/api/mail/receipts/{payment_id}',
    key: 'session',
    description:
      'Sends the receipt of a paid payment to its payer, also if the shop sends none automatically. Not again, unless `after` is the last message with it: pressed twice, it is sent once.',
    params: receiptParams,
    body: z.object({
      after: described(z._default(z.nullable(text(26)), null), 'Id of the last message with it; null: none.'),
    }),
    data: z.extend(receiptState, {
      /** False if there is a newer message than `after`. */
      isNew: z.boolean(),
    }),
    errors: ['invalid_state'],
    sample: {
      params: receiptSample,
      body: { after: null },
      message: 'Receipt is being sent',
      data: { ...sampleReceipt, last: { ...last, secondsAgo: 0, isSent: false }, isNew: true },
    },
  }),
};

export const mailApi = { payerMail, ownMail, receiptMail };
export type MailApi = typeof mailApi;
