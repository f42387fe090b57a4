/** Mistakes that TypeScript must refuse. Without an error, `@ts-expect-error` is one. */
export const right = (
  <crypto-checkout amount="5" no-redirect class="pay" messages={{}} oncheckout-locked={() => undefined} />
);

export const wrong = [
  // @ts-expect-error: amout
  <crypto-checkout amout={5} />,
  // @ts-expect-error: there is no such theme
  <crypto-checkout theme="purple" />,
  // @ts-expect-error: the event has no order
  <crypto-checkout oncheckout-success={({ order }) => order} />,
];
