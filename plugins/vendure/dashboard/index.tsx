/** The page of an order in Vendure's dashboard: its crypto payments in words, with a link to each in the console. */
import { useQuery } from '@tanstack/react-query';
import { api, defineDashboardExtension, type PageContextValue } from '@vendure/dashboard';
import { CryptoPayments, type ShownPayment } from './crypto-payments.js';

const document = `query ($orderId: ID!) { cryptoPayments(orderId: $orderId) { paymentId payment refunds console } }`;

/** Asked again when the order's payments or refunds have changed, and when the tab gets the focus. */
function usePayments({ entity }: PageContextValue): readonly ShownPayment[] | undefined {
  const { data } = useQuery({
    queryKey: ['crypto-payments', entity?.id, entity?.state, entity?.payments],
    queryFn: () =>
      api.query<{ cryptoPayments: readonly ShownPayment[] }>(document, { orderId: entity?.id ?? '' }),
    enabled: entity?.id !== undefined,
  });
  return data?.cryptoPayments;
}

defineDashboardExtension({
  pageBlocks: [
    {
      id: 'crypto-payments',
      title: 'Crypto payment',
      location: {
        pageId: 'order-detail',
        column: 'side',
        position: { blockId: 'state', order: 'after' },
      },
      // Orders that are paid in another way have no block.
      shouldRender: (context) => (usePayments(context)?.length ?? 0) > 0,
      component: ({ context }) => <CryptoPayments payments={usePayments(context) ?? []} />,
    },
  ],
});
