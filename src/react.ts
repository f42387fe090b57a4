'use client';
/**
 * The element as a React component, for React 18 and 19: `import { CryptoCheckout } from 'crypto-checkout/react'`.
 *
 * React 18 has no handlers for custom events, and React 19 loses those of a page that it hydrates. Here they are
 * attached after mounting, no matter what rendered the tag.
 */
import { createComponent, type EventName } from '@lit/react';
import * as React from 'react';
import { eventOf } from './checkout/state-events.js';
import type { CheckoutCamelCaseHandlers, CheckoutProperties } from './element-types.js';
import { checkoutEvents, CheckoutEvent, CryptoCheckout as CheckoutElement } from './index.js';

/** The element itself, as a ref gets it. */
export type CryptoCheckoutElement = CheckoutElement;

/** The element's properties, a handler for each event, and what every element has: `className`, `style`, `id`, `children`. */
export interface CryptoCheckoutProps
  extends
    CheckoutProperties,
    CheckoutCamelCaseHandlers,
    Omit<React.HTMLAttributes<CheckoutElement>, keyof CheckoutProperties> {}

const Tag = /* @__PURE__ */ createTag();

/**
 * `<crypto-checkout>` with typed properties and handlers.
 *
 *     <CryptoCheckout publicKey="pk_test_…" amount={49.9} baseCurrency="USD" txRef="order-42" onCheckoutSuccess={refetch} />
 *
 * It is not proof of payment. Let your server verify the payment before you deliver.
 */
export const CryptoCheckout: React.ForwardRefExoticComponent<
  CryptoCheckoutProps & React.RefAttributes<CheckoutElement>
> = /* @__PURE__ */ React.forwardRef<CheckoutElement, CryptoCheckoutProps>(
  function CryptoCheckout(props, ref) {
    const element = React.useRef<CheckoutElement>(null);
    // React sets it before any code can read this.
    React.useImperativeHandle(ref, () => element.current ?? absent());
    useMissedEvents(element, props);
    return React.createElement(Tag, {
      ...withAttributes(props),
      ref: element,
    } as React.ComponentProps<typeof Tag>);
  },
);

/** On a server, React warns about the other hook, which runs before anything else can happen. */
const useMountEffect = typeof window === 'undefined' ? React.useEffect : React.useLayoutEffect;

/**
 * In a page that is hydrated, the element may have fired its events before React attached the handlers. They are called
 * once, on mount, with the current state.
 */
function useMissedEvents(
  element: React.RefObject<CheckoutElement | null>,
  handlers: CheckoutCamelCaseHandlers,
): void {
  const isDone = React.useRef(false);
  useMountEffect(() => {
    const { current } = element;
    // It runs again when a Suspense boundary or an Activity shows the component again: by then, nothing was missed.
    if (isDone.current) return;
    isDone.current = true;
    if (!current?.hasUpdated) return;
    const missed = [new CheckoutEvent('checkout-ready', undefined), eventOf(current.status, current.payment)];
    for (const event of missed) {
      const handler: unknown = event && Reflect.get(handlers, handlerOf(event.type));
      if (typeof handler === 'function') handler.call(undefined, event);
    }
  }, []);
}

/**
 * createComponent sets everything that it finds in the class's prototype as a property, and a server renders none of
 * those. So it gets a class with only the properties that no attribute can hold. React sets the rest as attributes, and
 * the tag works before the page is hydrated.
 */
function createTag() {
  const names = [...propertiesOf(CheckoutElement)].flatMap(([name, { attribute }]) =>
    attribute === false ? [[name, undefined]] : [],
  );
  const elementClass = { prototype: Object.fromEntries(names) as object };
  return createComponent({
    react: React,
    tagName: 'crypto-checkout',
    elementClass: elementClass as typeof CheckoutElement,
    events: Object.fromEntries(
      Object.keys(checkoutEvents).map((type) => [handlerOf(type), type as EventName]),
    ),
    displayName: 'crypto-checkout',
  });
}

/** `checkout-success` → `onCheckoutSuccess`. */
function handlerOf(type: string): string {
  return `on-${type}`.replace(/-(.)/g, (_dash, letter: string) => letter.toUpperCase());
}

/** The same props under the names of their attributes, where those differ from the property's. */
function withAttributes(props: CryptoCheckoutProps): Record<string, unknown> {
  const properties = propertiesOf(CheckoutElement);
  return Object.fromEntries(
    Object.entries(props as Record<string, unknown>).map(([name, value]) => {
      const { attribute } = properties.get(name) ?? {};
      const key = typeof attribute === 'string' ? attribute : name;
      // Only booleans can be false, and React 18 would render `no-redirect="false"`.
      return [key, value === false ? undefined : value];
    }),
  );
}

function propertiesOf(element: typeof CheckoutElement) {
  // If nothing has defined the element, as on a server, reading this completes its list of properties.
  Reflect.get(element, 'observedAttributes');
  return element.elementProperties;
}

function absent(): never {
  throw new Error('The element is not mounted');
}
