/** The page of an order in Medusa's admin: its crypto payment in words, and a link to it in the console. */
import { Container, Heading, Text } from '@medusajs/ui';
import { createElement, type ReactElement } from 'react';

interface Shown {
  readonly data: { readonly metadata?: Readonly<Record<string, unknown>> | null };
}

/** Only a link to a page: the metadata of an order is as good as what wrote it. */
const isPage = (text: string) => /^https?:\/\//.test(text);

function CryptoPayment({ data }: Shown): ReactElement | null {
  const [payment = '', refund = '', page = ''] = ['payment', 'refund', 'console'].map((name) => {
    const text = data.metadata?.[`crypto_${name}`];
    return typeof text === 'string' ? text : '';
  });
  if (payment === '') return null;
  const link = { href: page, target: '_blank', rel: 'noreferrer', className: 'text-ui-fg-interactive' };
  return createElement(
    Container,
    { className: 'flex flex-col gap-y-2' },
    createElement(Heading, { level: 'h2' }, 'Crypto payment'),
    createElement(Text, { size: 'small' }, payment),
    refund === '' ? null : createElement(Text, { size: 'small' }, `Refunds: ${refund}`),
    isPage(page)
      ? createElement(Text, { size: 'small' }, createElement('a', link, 'Open it in the console'))
      : null,
  );
}

const none = { resources: {} };

export default {
  widgetModule: { widgets: [{ Component: CryptoPayment, zone: ['order.details.side.before'] }] },
  routeModule: { routes: [] },
  menuItemModule: { menuItems: [] },
  formModule: { customFields: {} },
  displayModule: { displays: {} },
  i18nModule: none,
  cellRendererModule: {},
  layoutModule: { layouts: [] },
  searchEntityModule: {},
};
