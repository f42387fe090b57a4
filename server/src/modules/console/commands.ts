/** `users …`: the people who use the console. */
import { roles, type Role } from 'crypto-checkout/contract';
import { retention, spellPeriod } from '../../core/shared/retention.js';
import { command, type Group } from '../../core/commands/command.js';
import type { CommandContext } from '../../core/commands/context.js';
import { UsageError } from '../../core/commands/errors.js';
import * as option from '../../core/commands/options.js';
import { listCommand, noFilters } from '../../core/commands/read-commands.js';
import type { People } from './people.js';

const email = option.text('EMAIL', "the person's e-mail address, in any case");
const merchant = option.merchant('the merchant whose team it is').required();
const isEmail = (text: string) => /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u.test(text) && text.length <= 254;

const meaning: Readonly<Record<Role, string>> = {
  owner: 'everything, and the team',
  manager: 'everything except refund limits, releasing transfers without a proof, and changing the team',
  support: 'payments, customers, and refunds, except approving them',
  accountant: 'reads everything but the team',
};

/** @param peopleOf finds the rules of a running command */
export const userCommands = (peopleOf: (context: CommandContext) => People): Group => ({
  name: 'users',
  summary: 'The people who use the console.',
  commands: {
    invite: command({
      summary: "Adds a person to a merchant's team, and prints a link to sign in with.",
      details: `The link works once, for ${spellPeriod(retention.signInLinkMs)}: send it to nobody else. For somebody who is in the team already it is a new one, and the old link ends. That is also the way back in for a person who has lost a passkey.

Roles: ${roles.map((role) => `${role}: ${meaning[role]}`).join('; ')}.`,
      options: {
        merchant,
        email: email.required(),
        role: option.oneOf(roles, 'what the person may do').required(),
      },
      async run(context, { merchant, email, role }) {
        const { database, actor } = context;
        const people = peopleOf(context);
        if (!isEmail(email.trim())) throw new UsageError('--email must be an e-mail address');
        const invited = await database.write((transaction) =>
          people.invite(transaction, { merchantId: merchant, email, role }, actor),
        );
        const { signInUrl, linkExpiresAt } = invited;
        return { json: invited, text: `${signInUrl}\n\nIt works once, until ${linkExpiresAt}` };
      },
    }),
    list: listCommand(noFilters, {
      summary: 'Lists the people of all merchants, with their roles and open sessions.',
      what: 'people',
      rows: (context, { merchantId }) => peopleOf(context).list(merchantId),
      columns: {
        ID: ({ id }) => id,
        MERCHANT: ({ merchantId }) => merchantId,
        EMAIL: (person) => person.email,
        ROLE: ({ role }) => role,
        SESSIONS: ({ sessions }) => String(sessions),
        'LAST SIGN-IN': ({ lastSignInAt }) => lastSignInAt ?? 'never',
      },
    }),
    remove: command({
      summary: "Removes a person from a merchant's team, with all sessions and passkeys.",
      args: { email },
      options: { merchant },
      async run(context, { email, merchant }) {
        const { database, actor } = context;
        const people = peopleOf(context);
        await database.write(async (transaction) => {
          const id = await people.find(transaction, merchant, email);
          await people.remove(transaction, merchant, id, actor, true);
        });
        return { json: { email, removed: true }, text: `Removed ${email}` };
      },
    }),
    erase: command({
      summary:
        'Erases who a removed person was from the audit log, which keeps what was done, when, and the id of the person.',
      details:
        'The e-mail address, the IP addresses of the requests, and the names of the passkeys go for good. The entries stay as they are, and "audit check" passes. The files of backups that were made before still contain them.',
      args: { email },
      options: { merchant },
      async run(context, { email, merchant }) {
        const { database, actor } = context;
        const people = peopleOf(context);
        await database.write((transaction) => people.erase(transaction, merchant, email, actor));
        return { json: { email, erased: true }, text: `Erased ${email}` };
      },
    }),
    'sign-out': command({
      summary: 'Ends all sessions of a person, at once on all servers, and any unused link.',
      args: { email },
      options: { merchant },
      async run(context, { email, merchant }) {
        const { database, actor } = context;
        const people = peopleOf(context);
        await database.write(async (transaction) => {
          const id = await people.find(transaction, merchant, email);
          await people.signOut(transaction, merchant, id, actor);
        });
        return { json: { email, signedOut: true }, text: `Signed out ${email}` };
      },
    }),
  },
});
