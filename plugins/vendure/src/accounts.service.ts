/** Accounts at crypto-checkout servers, as payment methods name them: one client for each, with its keys. */
import { Injectable } from '@nestjs/common';
import {
  PaymentMethod,
  RequestContextService,
  TransactionalConnection,
  type ID,
  type RequestContext,
} from '@vendure/core';
import { createMerchantClient, type MerchantClient } from 'crypto-checkout/client';

export const handlerCode = 'crypto-checkout';

export interface Keys {
  readonly apiUrl: string;
  readonly publicKey: string;
  readonly secretKey: string;
  readonly webhookSecrets: readonly string[];
}

export interface Account extends Keys {
  readonly methodId: ID;
  readonly methodCode: string;
  readonly mode: 'test' | 'live';
  readonly client: MerchantClient;
}

/** The page of a payment in the server's console. It is no secret: the console asks who is there. */
export const consoleUrl = ({ apiUrl, mode }: Account, checkoutId: string) =>
  `${apiUrl}/console/${mode}/payments/${checkoutId}`;

/** The hosted page of a payment. */
export const payPage = ({ apiUrl }: Account, checkoutId: string) => `${apiUrl}/pay/${checkoutId}`;

@Injectable()
export class Accounts {
  constructor(
    private readonly connection: TransactionalConnection,
    private readonly contexts: RequestContextService,
  ) {}

  /** The accounts that a channel pays into. */
  async ofChannel(ctx: RequestContext): Promise<Account[]> {
    const methods = await this.connection.getRepository(ctx, PaymentMethod).find({
      where: { enabled: true, channels: { id: ctx.channelId } },
    });
    return accountsOf(methods);
  }

  /** Methods of several channels may have the same code. Disabled ones may still have payments on their way. */
  async byCode(code: string): Promise<Account[]> {
    const methods = await this.connection.rawConnection
      .getRepository(PaymentMethod)
      .find({ where: { code } });
    return accountsOf(methods);
  }

  async byId(id: ID): Promise<Account | undefined> {
    const methods = await this.connection.rawConnection.getRepository(PaymentMethod).find({ where: { id } });
    return accountsOf(methods)[0];
  }

  async all(): Promise<Account[]> {
    return accountsOf(await this.connection.rawConnection.getRepository(PaymentMethod).find());
  }

  /** Work that no request asked for, such as a webhook's, in the order's channel. */
  contextOf(channelToken: string): Promise<RequestContext> {
    return this.contexts.create({ apiType: 'admin', channelOrToken: channelToken });
  }
}

/** Only for a method of this plugin's handler. */
export function accountOf({ id, code, handler }: PaymentMethod): Account {
  const arg = (name: string) => handler.args.find((given) => given.name === name)?.value.trim() ?? '';
  const secretKey = arg('secretKey');
  const apiUrl = arg('apiUrl').replace(/\/$/, '');
  return {
    apiUrl,
    secretKey,
    publicKey: arg('publicKey'),
    webhookSecrets: arg('webhookSecret').split(' ').filter(Boolean),
    methodId: id,
    methodCode: code,
    mode: secretKey.startsWith('sk_test_') ? 'test' : 'live',
    client: createMerchantClient({ apiUrl, secretKey, retries: 1 }),
  };
}

const accountsOf = (methods: readonly PaymentMethod[]) =>
  methods.filter(({ handler }) => handler.code === handlerCode).map(accountOf);
