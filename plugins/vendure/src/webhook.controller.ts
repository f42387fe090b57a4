/** Webhooks of crypto-checkout servers: one URL for each payment method, verified with its own secret. */
import {
  Controller,
  HttpCode,
  NotFoundException,
  BadRequestException,
  Param,
  Post,
  Req,
} from '@nestjs/common';
import { Logger } from '@vendure/core';
import { verifyWebhook, WebhookError, type ReceivedWebhook } from 'crypto-checkout/client';
import type { IncomingMessage } from 'node:http';
import { Accounts, type Account } from './accounts.service.js';
import { CryptoPayments, loggerContext } from './crypto-payments.service.js';
import { CryptoRefunds } from './crypto-refunds.service.js';
import { rawBodyOf, webhookRoute } from './raw-body.js';

@Controller(webhookRoute)
export class WebhookController {
  constructor(
    private readonly accounts: Accounts,
    private readonly payments: CryptoPayments,
    private readonly refunds: CryptoRefunds,
  ) {}

  /** An event only says that something has changed: the server is asked for its state. If that fails, the event comes again. */
  @Post(':methodCode')
  @HttpCode(204)
  async receive(@Param('methodCode') code: string, @Req() request: IncomingMessage): Promise<void> {
    const accounts = await this.accounts.byCode(code);
    if (accounts.length === 0) throw new NotFoundException('No crypto-checkout payment method has this code');
    const received = open(accounts, request);
    if (!received) return;
    const { account, event } = received;
    const id: unknown = event.data.id;
    if (typeof id !== 'string' || ('isSample' in event.data && event.data.isSample)) return;
    if (event.type.startsWith('payment.')) await this.payments.reviewById(account, id);
    if (event.type.startsWith('refund.')) await this.refunds.review(account, id);
  }
}

/** Undefined for an event of a type that came after this version. */
function open(
  accounts: readonly Account[],
  request: IncomingMessage,
): { account: Account; event: ReceivedWebhook } | undefined {
  for (const account of accounts) {
    if (account.webhookSecrets.length === 0) continue;
    try {
      return { account, event: verifyWebhook(rawBodyOf(request), request.headers, account.webhookSecrets) };
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      if (error.code === 'webhook_type_unknown') return undefined;
      Logger.warn(`Webhook for ${account.methodCode} refused: ${error.shortMessage}`, loggerContext);
    }
  }
  throw new BadRequestException('The webhook is not signed with the secret of this payment method');
}
