/** `mail …`: messages to payers and to a merchant's people. */
import { staffMailKinds } from 'crypto-checkout/contract';
import { command, type Group } from '../../core/commands/command.js';
import type { CommandContext } from '../../core/commands/context.js';
import { CommandError } from '../../core/commands/errors.js';
import * as option from '../../core/commands/options.js';
import { counted, listRecords, recordJson } from '../../core/commands/records.js';
import { isoTime } from '../../core/shared/clock.js';
import { kinds, kindTexts } from './kinds.js';
import type { Mail } from './mail.js';
import { staffKindTexts } from './staff-kinds.js';
import { mailLanguages } from './texts.js';
import type { MailTable } from './tables.js';

const scoped = {
  merchant: option.merchant('the merchant').required(),
  mode: option.mode('the mode of its payments'),
};

export const mailCommands = (mail: (context: CommandContext) => Mail): Group => ({
  name: 'mail',
  summary: 'E-mail to payers and to the people of a team.',
  commands: {
    choose: command({
      summary: "Chooses which messages a merchant's payers get. None at first.",
      details: `Kinds:\n${kinds.map((kind) => `  ${kind}: ${kindTexts[kind]}`).join('\n')}`,
      options: {
        ...scoped,
        kinds: option.text('KINDS', `kinds separated by commas, "all", or "none"`).required(),
        language: option.oneOf(mailLanguages, 'their language').default('en'),
        replyTo: option.text('EMAIL', 'where answers go (default: the address of MAIL_FROM)'),
      },
      async run(context, { merchant: merchantId, mode, kinds: given, language, replyTo }) {
        const chosen = { kinds: parseKinds(given, kinds), language, replyTo };
        await context.database.write((transaction) =>
          mail(context).choose(transaction, { merchantId, mode }, chosen, context.actor),
        );
        const list = chosen.kinds.join(', ') || 'none';
        const off = mail(context).isOn ? '' : '. None is sent until SMTP_URL and MAIL_FROM are set';
        return { json: { mode, ...chosen }, text: `Payers get in ${mode} mode: ${list}${off}` };
      },
    }),
    staff: command({
      summary: 'Chooses which messages somebody of a team gets. None at first. The console has the same.',
      details: `Only about what the role may see. Kinds:\n${staffMailKinds.map((kind) => `  ${kind}: ${staffKindTexts[kind]}`).join('\n')}`,
      options: {
        ...scoped,
        email: option.text('EMAIL', "the person's e-mail address").required(),
        kinds: option
          .text('KINDS', `kinds separated by commas, "all" that the role may see, or "none"`)
          .required(),
        language: option.oneOf(mailLanguages, 'their language').default('en'),
      },
      async run(context, { merchant: merchantId, mode, email, kinds: given, language }) {
        const { staff, isOn } = mail(context);
        const chosen = await context.database.write(async (transaction) => {
          const person = await staff.findByEmail(transaction, merchantId, email);
          const scope = { merchantId, mode };
          const { offered } = await staff.chosenBy(transaction, scope, person);
          const wanted = given === 'all' ? offered : parseKinds(given, staffMailKinds);
          await staff.choose(transaction, scope, person, { kinds: wanted, language }, context.actor);
          return wanted;
        });
        const off = isOn ? '' : '. None is sent until SMTP_URL and MAIL_FROM are set';
        return {
          json: { mode, email, kinds: chosen, language },
          text: `${email} gets in ${mode} mode: ${chosen.join(', ') || 'none'}${off}`,
        };
      },
    }),
    list: command({
      summary: "Lists a merchant's messages, newest first, at most 1000.",
      options: {
        ...scoped,
        status: option.oneOf(['pending', 'sent', 'failed', 'dropped'], 'only messages with this status'),
      },
      async run(context, { merchant: merchantId, mode, status }) {
        const rows = await mail(context).list({ merchantId, mode }, status);
        return listRecords(rows, mailJson, mailLine, 'There are no messages');
      },
    }),
    retry: command({
      summary: 'Sends a failed message again.',
      args: { id: option.id('the message, as "mail list" shows it') },
      options: {},
      async run(context, { id }) {
        await context.database.write((transaction) => mail(context).retry(transaction, id));
        return { json: { id }, text: `${id} is sent again` };
      },
    }),
    test: command({
      summary: 'Sends a message to you, to see whether the mail server takes it.',
      options: { to: option.text('EMAIL', 'your address').required() },
      async run(context, { to }) {
        const failure = await mail(context).test(to);
        if (failure) throw new CommandError(`The mail server did not take it: ${failure.reason}`);
        const waiting = counted(await mail(context).countDue(), 'message');
        return { json: { to }, text: `The mail server took it. ${waiting} wait` };
      },
    }),
  },
});

function parseKinds<Name extends string>(text: string, known: readonly Name[]): readonly Name[] {
  if (text === 'all') return known;
  if (text === 'none') return [];
  return text.split(',').map((part) => {
    const found = known.find((kind) => kind === part.trim());
    if (!found)
      throw new CommandError(`"${part.trim()}" is not a kind. Use ${known.join(', ')}, all or none`);
    return found;
  });
}

function mailJson(row: MailTable) {
  return recordJson(
    row,
    'id',
    'mode',
    'kind',
    'payment_id',
    'person_id',
    'status',
    'tries',
    'problem',
    'created_at',
    'sent_at',
  );
}

function mailLine({ id, kind, status, payment_id, person_id, problem, created_at }: MailTable): string {
  const why = problem === null ? [] : [problem];
  return [id, status, kind, payment_id ?? person_id, isoTime(created_at), ...why].join('  ');
}
