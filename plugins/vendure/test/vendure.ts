/** A Vendure shop over its two GraphQL APIs: its set-up, its customers' carts, and what its staff see. */
import * as z from 'zod';

export type Query = <T extends z.ZodType>(
  query: string,
  shape: T,
  variables?: Record<string, unknown>,
) => Promise<z.output<T>>;

const reply = z.object({
  data: z.optional(z.unknown()),
  errors: z.optional(z.array(z.object({ message: z.string() }))),
});

/** A session at one of the APIs. It signs in anonymously, and keeps the token that it gets. */
export function session(url: string, channelToken: string | undefined): Query {
  let token: string | undefined;
  return async (query, shape, variables = {}) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(channelToken !== undefined && { 'vendure-token': channelToken }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ query, variables }),
    });
    token = response.headers.get('vendure-auth-token') ?? token;
    const { data, errors } = reply.parse(await response.json());
    if (errors) throw new Error(errors.map(({ message }) => message).join('; '));
    return shape.parse(data);
  };
}

const anything = z.record(z.string(), z.unknown());
const made = z.object({ made: z.looseObject({ id: z.string() }) });

export interface Method {
  readonly code: string;
  readonly apiUrl: string;
  readonly publicKey: string;
  readonly secretKey: string;
  readonly webhookSecret: string;
}

export interface Admin {
  readonly query: Query;
  /** A session in another channel. */
  inChannel(token: string): Promise<Admin>;
  addMethod(method: Method): Promise<string>;
  order(code: string): Promise<AdminOrder>;
  /** The crypto payments of an order, newest first, as its page in the dashboard shows them. */
  shown(orderId: string): Promise<{ payment: string; refunds: string; console: string }[]>;
  /** Runs the scheduled task, and waits until it has ended. */
  askAgain(): Promise<void>;
}

export async function signIn(url: string, channelToken?: string): Promise<Admin> {
  const query = session(`${url}/admin-api`, channelToken);
  await query(
    `mutation { login(username: "superadmin", password: "only for tests") { __typename } }`,
    z.object({ login: z.object({ __typename: z.literal('CurrentUser') }) }),
  );
  return {
    query,
    inChannel: (token) => signIn(url, token),
    async addMethod({ code, ...keys }) {
      const input = {
        code,
        enabled: true,
        handler: {
          code: 'crypto-checkout',
          arguments: Object.entries(keys).map(([name, value]) => ({ name, value })),
        },
        translations: [{ languageCode: 'en', name: 'Crypto', description: '' }],
      };
      const { made: method } = await query(
        `mutation ($input: CreatePaymentMethodInput!) { made: createPaymentMethod(input: $input) { id } }`,
        made,
        { input },
      );
      return method.id;
    },
    async order(code) {
      const { orders } = await query(
        `query ($code: String!) { orders(options: { filter: { code: { eq: $code } } }) { items {
          id state totalWithTax
          payments { id state amount method transactionId metadata
            refunds { id state total transactionId metadata } }
          history(options: { take: 50 }) { items { type data } } } } }`,
        z.object({ orders: z.object({ items: z.array(adminOrder) }) }),
        { code },
      );
      const [order] = orders.items;
      if (!order) throw new Error(`There is no order ${code}`);
      return order;
    },
    async shown(orderId) {
      const { cryptoPayments } = await query(
        `query ($orderId: ID!) { cryptoPayments(orderId: $orderId) { payment refunds console } }`,
        z.object({
          cryptoPayments: z.array(
            z.object({ payment: z.string(), refunds: z.string(), console: z.string() }),
          ),
        }),
        { orderId },
      );
      return cryptoPayments;
    },
    async askAgain() {
      const id = 'crypto-checkout-ask-again';
      const last = async () => {
        const { scheduledTasks } = await query(
          `{ scheduledTasks { id isRunning lastExecutedAt lastResult } }`,
          z.object({
            scheduledTasks: z.array(
              z.looseObject({
                id: z.string(),
                isRunning: z.boolean(),
                lastExecutedAt: z.nullable(z.string()),
              }),
            ),
          }),
        );
        return scheduledTasks.find((task) => task.id === id);
      };
      const before = (await last())?.lastExecutedAt;
      await query(`mutation { runScheduledTask(id: "${id}") { success } }`, anything);
      for (const deadline = Date.now() + 20_000; Date.now() < deadline;) {
        const task = await last();
        if (task && !task.isRunning && task.lastExecutedAt !== before) return;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      throw new Error('The scheduled task did not end');
    },
  };
}

const adminOrder = z.object({
  id: z.string(),
  state: z.string(),
  totalWithTax: z.number(),
  payments: z.array(
    z.object({
      id: z.string(),
      state: z.string(),
      amount: z.number(),
      method: z.string(),
      transactionId: z.nullable(z.string()),
      metadata: z.unknown(),
      refunds: z.array(
        z.object({
          id: z.string(),
          state: z.string(),
          total: z.number(),
          transactionId: z.nullable(z.string()),
          metadata: z.unknown(),
        }),
      ),
    }),
  ),
  history: z.object({
    items: z.array(z.object({ type: z.string(), data: z.looseObject({ note: z.optional(z.string()) }) })),
  }),
});
export type AdminOrder = z.output<typeof adminOrder>;

/** The notes in the order's history, oldest first. */
export const notesIn = ({ history }: AdminOrder) =>
  history.items.flatMap(({ data }) => (data.note === undefined ? [] : [data.note]));

/** Countries, taxes, shipping and a lantern for 24.50, in dollars and, in the channel "eu", in euros. */
export async function furnish(admin: Admin): Promise<{ variantId: string }> {
  const make = async (name: string, type: string, input: object) =>
    (
      await admin.query(`mutation ($input: ${type}!) { made: ${name}(input: $input) { id } }`, made, {
        input,
      })
    ).made.id;
  const country = await make('createCountry', 'CreateCountryInput', {
    code: 'US',
    enabled: true,
    translations: [{ languageCode: 'en', name: 'United States' }],
  });
  const zone = await make('createZone', 'CreateZoneInput', { name: 'Everywhere', memberIds: [country] });
  const category = await make('createTaxCategory', 'CreateTaxCategoryInput', {
    name: 'None',
    isDefault: true,
  });
  await make('createTaxRate', 'CreateTaxRateInput', {
    name: 'None',
    enabled: true,
    value: 0,
    categoryId: category,
    zoneId: zone,
  });
  await admin.query(
    `mutation ($input: UpdateChannelInput!) { updateChannel(input: $input) { __typename } }`,
    anything,
    {
      input: {
        id: '1',
        defaultTaxZoneId: zone,
        defaultShippingZoneId: zone,
        pricesIncludeTax: true,
        availableCurrencyCodes: ['USD', 'EUR', 'XPF'],
      },
    },
  );
  const shipping = await make('createShippingMethod', 'CreateShippingMethodInput', {
    code: 'post',
    fulfillmentHandler: 'manual-fulfillment',
    checker: {
      code: 'default-shipping-eligibility-checker',
      arguments: [{ name: 'orderMinimum', value: '0' }],
    },
    calculator: {
      code: 'default-shipping-calculator',
      arguments: [
        { name: 'rate', value: '0' },
        { name: 'includesTax', value: 'auto' },
        { name: 'taxRate', value: '0' },
      ],
    },
    translations: [{ languageCode: 'en', name: 'Post', description: '' }],
  });
  const product = await make('createProduct', 'CreateProductInput', {
    translations: [
      { languageCode: 'en', name: 'Lantern', slug: 'lantern', description: 'It burns for nine hours.' },
    ],
  });
  const { createProductVariants } = await admin.query(
    `mutation ($input: [CreateProductVariantInput!]!) { createProductVariants(input: $input) { id } }`,
    z.object({ createProductVariants: z.tuple([z.object({ id: z.string() })]) }),
    {
      input: [
        {
          productId: product,
          sku: 'LANTERN',
          taxCategoryId: category,
          stockOnHand: 1000,
          price: 2450,
          translations: [{ languageCode: 'en', name: 'Lantern' }],
        },
      ],
    },
  );
  const variantId = createProductVariants[0].id;
  const prices = [
    { currencyCode: 'USD', price: 2450 },
    { currencyCode: 'XPF', price: 270000 },
  ];
  await admin.query(
    `mutation ($input: [UpdateProductVariantInput!]!) { updateProductVariants(input: $input) { id } }`,
    anything,
    { input: [{ id: variantId, prices }] },
  );
  const channel = await admin.query(
    `mutation ($input: CreateChannelInput!) { made: createChannel(input: $input) { ... on Channel { id } } }`,
    made,
    {
      input: {
        code: 'eu',
        token: 'eu-token',
        defaultLanguageCode: 'en',
        pricesIncludeTax: true,
        defaultCurrencyCode: 'EUR',
        defaultTaxZoneId: zone,
        defaultShippingZoneId: zone,
      },
    },
  );
  const assign = (mutation: string, input: object) =>
    admin.query(
      `mutation { ${mutation} }`.replace('INPUT', JSON.stringify(input).replaceAll(/"(\w+)":/g, '$1:')),
      anything,
    );
  const channelId = channel.made.id;
  await assign('assignProductsToChannel(input: INPUT) { id }', {
    channelId,
    productIds: [product],
    priceFactor: 1,
  });
  await assign('assignShippingMethodsToChannel(input: INPUT) { id }', {
    channelId,
    shippingMethodIds: [shipping],
  });
  await assign('assignStockLocationsToChannel(input: INPUT) { id }', { channelId, stockLocationIds: ['1'] });
  return { variantId };
}

const cryptoPayment = z.object({
  paymentId: z.string(),
  apiUrl: z.string(),
  publicKey: z.string(),
  url: z.string(),
  amount: z.number(),
  currencyCode: z.string(),
  orderCode: z.string(),
  status: z.string(),
  orderState: z.string(),
});
export type CryptoPayment = z.output<typeof cryptoPayment>;
const fields = Object.keys(cryptoPayment.shape).join(' ');

export interface Customer {
  readonly query: Query;
  /** Sets the quantity of lanterns in the cart, from any state of the checkout. */
  setQuantity(quantity: number): Promise<void>;
  pay(methodCode?: string): Promise<CryptoPayment>;
  check(paymentId: string): Promise<CryptoPayment>;
}

/** A guest with one lantern, an address and a way of shipping. */
export async function fillCart(
  url: string,
  variantId: string,
  { channelToken, currencyCode }: { channelToken?: string; currencyCode?: string } = {},
): Promise<Customer> {
  const query = session(
    `${url}/shop-api${currencyCode === undefined ? '' : `?currencyCode=${currencyCode}`}`,
    channelToken,
  );
  await query(
    `mutation { addItemToOrder(productVariantId: "${variantId}", quantity: 1) { ... on Order { code } } }`,
    z.object({ addItemToOrder: z.object({ code: z.string() }) }),
  );
  await query(
    `mutation { setCustomerForOrder(input: { firstName: "Ada", lastName: "Example", emailAddress: "ada@example.com" }) { __typename }
      setOrderShippingAddress(input: { streetLine1: "1 Main Street", countryCode: "US" }) { __typename } }`,
    anything,
  );
  await query(
    `mutation { setOrderShippingMethod(shippingMethodId: ["1"]) { ... on Order { code } } }`,
    z.object({ setOrderShippingMethod: z.object({ code: z.string() }) }),
  );
  return {
    query,
    async setQuantity(quantity) {
      const { activeOrder } = await query(
        `{ activeOrder { state lines { id } } }`,
        z.object({
          activeOrder: z.object({ state: z.string(), lines: z.array(z.object({ id: z.string() })) }),
        }),
      );
      if (activeOrder.state !== 'AddingItems')
        await query(`mutation { transitionOrderToState(state: "AddingItems") { __typename } }`, anything);
      await query(
        `mutation { adjustOrderLine(orderLineId: "${activeOrder.lines[0]?.id ?? ''}", quantity: ${quantity}) { ... on Order { code } } }`,
        z.object({ adjustOrderLine: z.object({ code: z.string() }) }),
      );
    },
    async pay(methodCode) {
      const { createCryptoPayment } = await query(
        `mutation ($methodCode: String) { createCryptoPayment(methodCode: $methodCode) { ${fields} } }`,
        z.object({ createCryptoPayment: cryptoPayment }),
        { methodCode },
      );
      return createCryptoPayment;
    },
    async check(paymentId) {
      const { checkCryptoPayment } = await query(
        `mutation { checkCryptoPayment(paymentId: "${paymentId}") { ${fields} } }`,
        z.object({ checkCryptoPayment: cryptoPayment }),
      );
      return checkCryptoPayment;
    },
  };
}
