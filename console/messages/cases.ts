/** Texts of the staff's work on payments. */
import type { CaseNoteKind } from '../../src/contract/console-cases.js';
import { pick } from './pick.js';

const logged: Readonly<Record<Exclude<CaseNoteKind, 'note'>, (text: string) => string>> = {
  assigned: (email) => `Assigned to ${email || 'somebody who has left the team'}`,
  given_back: () => 'Given back: nobody takes care of it',
  handled: (text) => `Handled: ${text}`,
  reopened: (text) => (text ? `Needs attention again: ${text}` : 'Needs attention again'),
};

export const texts = pick({
  en: {
    title: 'Notes',
    none: 'No notes yet. Only the shop’s staff can read them.',
    logged,
    left: 'Somebody who has left the team',
    assignee: (email: string) => `${email} takes care of it.`,
    isHandled: 'Handled',
    add: 'Add a note…',
    addTitle: 'Note about this payment',
    note: 'Note',
    noteHint: 'Only the shop’s staff can read it.',
    save: 'Save',
    added: 'Saved',
    take: 'Take care of it',
    giveBack: 'Give back',
    taken: 'You take care of it.',
    givenBack: 'Nobody takes care of it now.',
    assign: 'Assign…',
    assignTitle: 'Assign this payment',
    person: 'Person',
    nobody: 'Nobody',
    assigned: 'Assigned',
    handle: 'Mark as handled…',
    handleTitle: 'Mark this payment as handled?',
    handleText:
      'It leaves “Needs attention” until something happens to it again, such as more money. No money is moved, and the order’s state stays.',
    handleNote: 'Resolution',
    handled: 'Handled',
    undone: 'It needs attention again.',
    reopen: 'Needs attention again',
    accept: 'Accept as paid…',
    acceptTitle: (sum: string) => `Accept ${sum} as paid?`,
    acceptText: (sum: string, due: string, reference: string) =>
      `${sum} of ${due} came. Order ${reference} counts as paid, and your server gets “payment.accepted” and “payment.success”. Nothing more is due, and a refund of this money that waits for its address is cancelled. This cannot be undone.`,
    acceptNote: 'Reason, for the audit log',
    acceptAction: (sum: string) => `Accept ${sum}`,
    accepted: 'Accepted: the order is paid.',
  },
});
