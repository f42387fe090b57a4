/** One shop and one checkout server for the tests of a file, with three accounts: of two channels, and one without webhooks. */
import { afterAll, beforeAll } from 'vitest';
import { payerOf, type Payer } from './payer.js';
import { startCheckout, startShop, type Checkout, type ShopKeys, type ShopProcess } from './processes.js';
import { furnish, signIn, type Admin } from './vendure.js';

interface Account {
  readonly keys: ShopKeys;
  readonly payer: Payer;
}

export interface Stage extends Account {
  readonly checkout: Checkout;
  readonly shop: ShopProcess;
  readonly admin: Admin;
  readonly variantId: string;
  /** The account of the method `crypto-quiet`, whose webhooks get lost. */
  readonly quiet: Account;
  /** The account of the method `crypto-euro`, in the channel `eu`. */
  readonly euro: Account & { readonly admin: Admin };
  /** Signs in again, for a shop that was started again. */
  signIn(): Promise<void>;
}

export function useShop(): Stage {
  let ready: Omit<Stage, 'signIn'> | undefined;
  const get = () => {
    if (!ready) throw new Error('The stage is set in beforeAll');
    return ready;
  };
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    const checkout = await startCheckout();
    stops.push(() => checkout.stop());
    const shop = await startShop();
    stops.push(() => shop.stop());
    const admin = await signIn(shop.url);
    const { variantId } = await furnish(admin);
    const euroAdmin = await admin.inChannel('eu-token');
    const account = async (code: string, to: Admin, path: string): Promise<Account> => {
      const keys = await checkout.account(code, `${shop.url}${path}`);
      const { publicKey, secretKey, webhookSecret } = keys;
      const method = { code, apiUrl: checkout.url, publicKey, secretKey, webhookSecret };
      await to.addMethod(method);
      return { keys, payer: payerOf(checkout.url, keys) };
    };
    ready = {
      checkout,
      shop,
      admin,
      variantId,
      ...(await account('crypto', admin, '/crypto-checkout/webhooks/crypto')),
      quiet: await account('crypto-quiet', admin, '/nowhere'),
      euro: {
        ...(await account('crypto-euro', euroAdmin, '/crypto-checkout/webhooks/crypto-euro')),
        admin: euroAdmin,
      },
    };
  });

  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  return {
    get checkout() {
      return get().checkout;
    },
    get shop() {
      return get().shop;
    },
    get admin() {
      return get().admin;
    },
    get variantId() {
      return get().variantId;
    },
    get keys() {
      return get().keys;
    },
    get payer() {
      return get().payer;
    },
    get quiet() {
      return get().quiet;
    },
    get euro() {
      return get().euro;
    },
    async signIn() {
      const { shop } = get();
      const admin = await signIn(shop.url);
      ready = { ...get(), admin, euro: { ...get().euro, admin: await admin.inChannel('eu-token') } };
    },
  };
}
