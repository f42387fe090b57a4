/** E-mail: the messages that a merchant's payers get, and those that each person of its team gets. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { described, requiredText, text } from './fields.js';

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
  /** Those about what the person's role may see. */
  offered: staffKinds,
  language: z.string(),
  languages: z.array(z.string()),
});

const samplePayers = {
  ...{ isOn: true, kinds: ['receipt', 'part'] as ('receipt' | 'part')[], language: 'en' },
  ...{ languages: ['en', 'fr'], replyTo: 'help@shop.example' },
};
const sampleOwn = {
  ...{
    isOn: true,
    kinds: ['signIn'] as 'signIn'[],
    offered: ['needsPerson', 'signIn'] as ('needsPerson' | 'signIn')[],
  },
  ...{ language: 'en', languages: ['en', 'fr'] },
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
    description: 'Chooses which messages the payers of the mode get.',
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

export const mailApi = { payerMail, ownMail };
export type MailApi = typeof mailApi;
