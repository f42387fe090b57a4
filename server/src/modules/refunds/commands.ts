/** `refunds …`: creates, lists, approves and cancels refunds of payments, and makes links for their payers. */
import { api, refundKinds } from 'crypto-checkout/contract';
import type { Transaction } from '../../core/db/engine.js';
import { orNotFound } from '../../core/shared/problem.js';
import { retention, spellPeriod } from '../../core/shared/retention.js';
import type { Scope } from '../../core/shared/scope.js';
import { command, type Group, type Output } from '../../core/commands/command.js';
import type { CommandContext } from '../../core/commands/context.js';
import * as option from '../../core/commands/options.js';
import { listCommand, showCommand } from '../../core/commands/read-commands.js';
import { showRecord } from '../../core/commands/records.js';
import type { Refunds } from './refunds.js';
import type { Refund } from './view.js';

const id = option.id('the refund, as "refunds list" shows it');

/** @param rules finds the rules of a running command */
export function refundCommands(rules: (context: CommandContext) => Refunds): Group {
  async function change(
    context: CommandContext,
    id: string,
    work: (refunds: Refunds, transaction: Transaction, scope: Scope) => Promise<Refund>,
  ): Promise<Output> {
    const refunds = rules(context);
    const scope = await refunds.owner(id);
    return show(await context.database.write((transaction) => work(refunds, transaction, scope)));
  }
  return {
    name: 'refunds',
    summary: 'Refunds: money of a payment that goes back to its payer.',
    commands: {
      create: command({
        summary: 'Starts a refund, reserves its amount, and prints the link for the payer.',
        details:
          'The link is shown once; "refunds link" makes a new one. Send it to the payer yourself: anyone who has it can say where the money goes.',
        options: {
          payment: option.id('the payment').required(),
          kind: option
            .oneOf(
              refundKinds,
              'full: the rest of the credited amount; excess: the amount above the price; unaccepted: money that came late, short or in another coin; partial: --amount',
            )
            .required(),
          amount: option.decimal('how many coins, for a partial refund'),
          currency: option.code('the coin, if the payment was credited with several'),
          network: option.code('its network, in the same case'),
          by: option
            .oneOf(['coins', 'today'], 'the coins that came, or as many as are worth as much today')
            .default('coins'),
          refundFee: option.flag('gives back the service fee too'),
          networkFee: option.oneOf(['merchant', 'payer'], "who bears the network's fee").default('merchant'),
          reason: option.text('TEXT', 'why: the payer reads it'),
          to: option.text('ADDRESS', 'where to, if the payer gave you an address'),
          email: option.flag('sends the link to the payer by e-mail, and shows it to nobody'),
        },
        async run(context, { payment: paymentId, to: address, email, ...given }) {
          const request = { ...given, deliver: email ? ('email' as const) : ('link' as const) };
          const { database, payments, actor } = context;
          const scope = orNotFound(await payments.owner(paymentId), 'payment');
          const created = await database.write((transaction) =>
            rules(context).create(transaction, scope, { ...request, paymentId, address }, actor),
          );
          return show(created);
        },
      }),
      list: listCommand(api.refunds.list.query, {
        summary: 'Lists the refunds, oldest first, at most 1000.',
        what: 'refunds',
        rows: (context, filter) => rules(context).listAll(filter),
        line: refundLine,
      }),
      show: showCommand('Shows a refund.', id, rules, show),
      approve: command({
        summary: 'Approves a refund that has an address: a transfer pays it.',
        details: 'Repeating it changes nothing. From then on, the address cannot change any longer.',
        args: { id },
        options: {
          address: option.text(
            'ADDRESS',
            'the address that you have seen: if the payer has changed it since, nothing is approved',
          ),
        },
        run: (context, given) =>
          change(context, given.id, (refunds, transaction, scope) =>
            refunds.approve(transaction, scope, given.id, context.actor, given.address),
          ),
      }),
      cancel: command({
        summary: 'Cancels a refund that was not approved, and gives back what it reserved.',
        details: 'Repeating it changes nothing.',
        args: { id },
        run: (context, given) =>
          change(context, given.id, (refunds, transaction, scope) =>
            refunds.cancel(transaction, scope, given.id, context.actor),
          ),
      }),
      link: command({
        summary: `Makes a new link for the payer, valid for ${spellPeriod(retention.refundLinkMs)}. The old one ends.`,
        args: { id },
        run: (context, given) =>
          change(context, given.id, (refunds, transaction, scope) =>
            refunds.link(transaction, scope, given.id, context.actor),
          ),
      }),
    },
  };
}

function show(refund: Refund): Output {
  const { value, metadata, sameWallet, ...fields } = refund;
  return {
    json: refund,
    text: showRecord({
      ...fields,
      sameWallet: sameWallet ? 'proven by a signature' : 'cannot be proven',
      worth: `${value.baseAmount} ${value.baseCurrency}`,
      ...(metadata && { metadata: JSON.stringify(metadata) }),
    }).text,
  };
}

function refundLine({ id, mode, status, kind, amount, currency, network, ...refund }: Refund): string {
  const to = refund.address === null ? 'no address yet' : `to ${refund.address}`;
  return [id, mode, status, kind, `${amount} ${currency} on ${network}`, to, refund.createdAt].join('  ');
}
