/** `mail …`: messages to payers. */
import { command, type Group } from '../../core/commands/command.js';
import type { CommandContext } from '../../core/commands/context.js';
import { CommandError } from '../../core/commands/errors.js';
import * as option from '../../core/commands/options.js';
import { counted, listRecords, recordJson } from '../../core/commands/records.js';
import { isoTime } from '../../core/shared/clock.js';
import { kinds, kindTexts, type Kind } from './kinds.js';
import type { Mail } from './mail.js';
import { mailLanguages } from './texts.js';
import type { MailTable } from './tables.js';

const scoped = {
  merchant: option.merchant('the merchant').required(),
  mode: option.mode('the mode of its payments'),
};

export const mailCommands = (mail: (context: CommandContext) => Mail): Group => ({
  name: 'mail',
  summary: 'E-mail to payers: receipts, what is missing, refunds.',
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
        const chosen = { kinds: parseKinds(given), language, replyTo };
        await context.database.write((transaction) =>
          mail(context).choose(transaction, { merchantId, mode }, chosen, context.actor),
        );
        const list = chosen.kinds.join(', ') || 'none';
        const off = mail(context).isOn ? '' : '. None is sent until SMTP_URL and MAIL_FROM are set';
        return { json: { mode, ...chosen }, text: `Payers get in ${mode} mode: ${list}${off}` };
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
      summary: 'Sends a message again that had failed.',
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
        return { json: { to }, text: `The mail server took it. To payers, ${waiting} wait` };
      },
    }),
  },
});

function parseKinds(text: string): readonly Kind[] {
  if (text === 'all') return kinds;
  if (text === 'none') return [];
  return text.split(',').map((part) => {
    const found = kinds.find((kind) => kind === part.trim());
    if (!found)
      throw new CommandError(`"${part.trim()}" is not a kind. Use ${kinds.join(', ')}, all or none`);
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
    'status',
    'tries',
    'problem',
    'created_at',
    'sent_at',
  );
}

function mailLine({ id, kind, status, payment_id, problem, created_at }: MailTable): string {
  const why = problem === null ? [] : [problem];
  return [id, status, kind, payment_id, isoTime(created_at), ...why].join('  ');
}
