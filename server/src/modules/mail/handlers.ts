/** Handlers of the messages that people choose in the console. */
import type { MailApi } from 'crypto-checkout/contract';
import { replyWith, type Handlers } from '../../core/api/handler.js';
import { actorOf } from '../../core/merchants/audit-log.js';
import type { PersonCaller, Scope } from '../../core/shared/scope.js';
import type { Mail } from './mail.js';
import { mailLanguages } from './texts.js';

type Reader = Parameters<Mail['chosen']>[0];

export function createMailHandlers(reader: Reader, mail: Mail): Handlers<MailApi> {
  const { isOn, staff } = mail;
  const languages = [...mailLanguages];

  const viewOwn = async (from: Reader, caller: PersonCaller) => ({
    isOn,
    languages,
    ...(await staff.chosenBy(from, caller, caller.person)),
  });
  const viewPayers = async (from: Reader, scope: Scope) => ({
    isOn,
    languages,
    ...(await mail.chosen(from, scope)),
  });

  return {
    ownMail: {
      retrieve: (_input, { caller }) => replyWith(viewOwn(reader, caller)),

      update: ({ body }, { caller, change }) =>
        change(async (transaction) => {
          await staff.choose(transaction, caller, caller.person, body, actorOf(caller));
          return viewOwn(transaction, caller);
        }),
    },

    receiptMail: {
      async retrieve({ params }, { caller }) {
        const { to, blockedBy, paymentId } = await mail.receiptOf(caller, params.payment_id);
        return { data: { to, blockedBy, last: await mail.lastReceipt(reader, paymentId) } };
      },

      async send({ params, body }, { caller, change }) {
        const receipt = await mail.receiptOf(caller, params.payment_id);
        return change(async (transaction) => {
          const isNew = await mail.sendReceipt(transaction, caller, receipt, body.after);
          const last = await mail.lastReceipt(transaction, receipt.paymentId);
          return { to: receipt.to, blockedBy: receipt.blockedBy, last, isNew };
        });
      },
    },

    payerMail: {
      retrieve: (_input, { caller }) => replyWith(viewPayers(reader, caller)),

      update: ({ body: { replyTo, ...body } }, { caller, change }) =>
        change(async (transaction) => {
          const chosen = { ...body, replyTo: replyTo === '' ? undefined : replyTo };
          await mail.choose(transaction, caller, chosen, actorOf(caller));
          return viewPayers(transaction, caller);
        }),
    },
  };
}
