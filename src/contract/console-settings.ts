/**
 * A merchant's account settings in the console: webhook URL, test keys and the shop's appearance; and the audit log.
 */
import * as z from 'zod/mini';
import { auditLogQuery } from './audit-log.js';
import { goLive } from './console-go-live.js';
import { endpoint } from './endpoint.js';
import { described, id, listQuery, mode, requiredText, text, timestamp } from './fields.js';

const sampleTime = '2026-01-01T00:00:00.000Z';

const webhookEndpoint = z.object({
  mode,
  /** Empty if there is none: no events are stored then. */
  url: z.string(),
  /** When it returned 410 Gone; null while it is on. */
  disabledAt: z.nullable(timestamp),
  /** A new signing secret. Only the reply that created it contains it. */
  secret: z.optional(z.string()),
});

const sampleEndpoint = { mode: 'test' as const, url: 'https://shop.example/webhooks', disabledAt: null };
const withSecret = { ...sampleEndpoint, secret: 'whsec_q0Zb7m3yXn1rT9sVw2kLd5hJf8gPaC4eR6uYiOxQzWs=' };

const webhook = {
  retrieve: endpoint({
    method: 'GET',
    path: '/console/api/webhook',
    key: 'session',
    description: 'Returns where the webhooks of the mode go.',
    data: webhookEndpoint,
    sample: { message: 'Webhook fetched', data: sampleEndpoint },
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/console/api/webhook',
    key: 'session',
    stepUp: true,
    description:
      'Sets where the webhooks of the mode go, and turns them on again. The first URL makes a signing secret. An empty one removes the endpoint.',
    body: z.object({ url: described(text(2048), 'https; http only in test mode. Empty: none.') }),
    data: webhookEndpoint,
    sample: { body: { url: sampleEndpoint.url }, message: 'Webhook set', data: withSecret },
  }),
  rotateSecret: endpoint({
    method: 'POST',
    path: '/console/api/webhook/secret',
    key: 'session',
    stepUp: true,
    description: 'Makes a new signing secret. For 24 hours, events are signed with the previous one too.',
    data: webhookEndpoint,
    errors: ['webhook_not_configured'],
    sample: { message: 'Secret made', data: withSecret },
  }),
};

const kind = z.enum(['secret', 'public']);
/**
 * The scopes of a secret key: everything, read (only GET), get, list and verify payments and transactions (`verify`),
 * or that and everything about refunds.
 */
export const keyScopes = ['full', 'read', 'verify', 'refunds'] as const;
export type KeyScope = (typeof keyScopes)[number];
const scope = z.enum(keyScopes);

const apiKey = z.object({
  id: z.string(),
  mode,
  kind,
  /** A public key in full; a secret key's beginning and last 4 characters. */
  key: z.string(),
  /** The scope of a secret key; null for public keys. */
  scope: z.nullable(scope),
  label: z.string(),
  createdAt: timestamp,
  /** Within a few minutes; null if it was never used. */
  lastUsedAt: z.nullable(timestamp),
  expiresAt: z.nullable(timestamp),
  revokedAt: z.nullable(timestamp),
});

const sampleKey = {
  id: '01J9ZQ8E0F1G2H3J4K5M6N7P8Q',
  mode: 'test' as const,
  kind: 'secret' as const,
  key: 'sk_test_…1a2b',
  scope: 'read' as const,
  label: 'Bookkeeping',
  createdAt: sampleTime,
  lastUsedAt: null,
  expiresAt: null,
  revokedAt: null,
};

const apiKeys = {
  list: endpoint({
    method: 'GET',
    path: '/console/api/keys',
    key: 'session',
    description: 'Lists the API keys of the mode, newest first.',
    query: listQuery({}),
    data: z.array(apiKey),
    paginated: true,
    sample: { query: { page: '1' }, message: 'Keys fetched', data: [sampleKey] },
  }),
  create: endpoint({
    method: 'POST',
    path: '/console/api/keys',
    key: 'session',
    stepUp: true,
    description:
      'Makes a test key. Only the reply has it in full. Live keys are made on the server’s command line.',
    body: z.object({
      kind: described(kind, '`secret` for servers, `public` for pages.'),
      scope: described(z._default(scope, 'full'), 'The permissions of a secret key. Defaults to full.'),
      label: described(z._default(text(100), ''), 'Its purpose.'),
    }),
    data: z.object({ id: z.string(), key: z.string() }),
    errors: ['invalid_state'],
    sample: {
      body: { kind: 'secret', scope: 'read', label: 'Bookkeeping' },
      message: 'Key made',
      data: { id: sampleKey.id, key: `sk_test_${'a'.repeat(39)}1a2b` },
    },
  }),
  revoke: endpoint({
    method: 'DELETE',
    path: '/console/api/keys/{key_id}',
    key: 'session',
    stepUp: true,
    description: 'Ends a key, test or live: at once on this server, within 5 seconds on others.',
    params: z.object({ key_id: described(id, 'Id of the key.') }),
    sample: { params: { key_id: sampleKey.id }, message: 'Key revoked' },
  }),
};

const shopSettings = z.object({
  name: z.string(),
  /** The shop's appearance for payers. */
  businessName: z.string(),
  logo: z.string(),
  supportUrl: z.string(),
  redirectOrigins: z.array(z.string()),
  /** Set only on the command line, like the next two. */
  feeBasisPoints: z.number(),
  transfers: z.enum(['any', 'saved']),
  dailyLimits: z.record(z.string(), z.string()),
  dailyRefunds: z.record(z.string(), z.string()),
  autoRefund: z.record(z.string(), z.string()),
  /** The zone in which the console shows times and counts days: an IANA name. */
  timeZone: z.string(),
});

const sampleShop = {
  name: 'Example Shop',
  businessName: 'Example Shop',
  logo: '',
  supportUrl: 'mailto:help@shop.example',
  redirectOrigins: ['https://shop.example'],
  feeBasisPoints: 100,
  transfers: 'any' as const,
  dailyLimits: {},
  dailyRefunds: { USDT: '500' },
  autoRefund: { USD: '20' },
  timeZone: 'Europe/Berlin',
};

const shop = {
  retrieve: endpoint({
    method: 'GET',
    path: '/console/api/shop',
    key: 'session',
    description: 'Returns the shop’s settings, for both modes.',
    data: shopSettings,
    sample: { message: 'Shop fetched', data: sampleShop },
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/console/api/shop',
    key: 'session',
    stepUp: true,
    description:
      'Changes what payers see of the shop, where its pages may send them, and the time zone of the console.',
    body: z.object({
      businessName: described(z.optional(requiredText()), 'The name that payers see.'),
      logo: described(z.optional(text(2048)), 'An https URL, or empty.'),
      supportUrl: described(z.optional(text(2048)), 'An https URL, mailto: and an email, or empty.'),
      redirectOrigins: described(
        z.optional(z.array(text(2048)).check(z.maxLength(20))),
        'Origins that payments made with a public key may redirect the payer to: at most 20. Empty: no automatic redirects.',
      ),
      timeZone: described(z.optional(requiredText(64)), 'An IANA name, such as Europe/Berlin.'),
    }),
    data: shopSettings,
    sample: { body: { supportUrl: sampleShop.supportUrl }, message: 'Shop changed', data: sampleShop },
  }),
};

const refundLimits = {
  update: endpoint({
    method: 'PATCH',
    path: '/console/api/shop/refund-limits',
    key: 'session',
    stepUp: true,
    description:
      'Sets one limit of refunds, in a coin or in money for all coins. Only owners. The daily limit can only be set and lowered: a stolen session must not raise it.',
    body: z.object({
      limit: described(
        z.enum(['dailyRefunds', 'autoRefund']),
        '`dailyRefunds`: the most in 24 hours. `autoRefund`: up to how much a refund needs no approval.',
      ),
      currency: described(requiredText(20), 'USDT: only this coin. USD: all coins by their value.'),
      amount: described(z.nullable(text(60)), 'A decimal; null removes an `autoRefund`.'),
    }),
    data: shopSettings,
    errors: ['invalid_state'],
    sample: {
      body: { limit: 'autoRefund', currency: 'USD', amount: '20' },
      message: 'Limit set',
      data: sampleShop,
    },
  }),
};

const auditEntry = z.object({
  id: z.int(),
  time: timestamp,
  /** Null if both modes share it. */
  mode: z.nullable(mode),
  actor: z.string(),
  /** The signed-in person; null for a key, a command or the server. The e-mail address is null once it was erased. */
  person: z.nullable(z.object({ id: z.string(), email: z.nullable(z.string()) })),
  action: z.string(),
  subjectId: z.string(),
  before: z.nullable(z.record(z.string(), z.unknown())),
  after: z.nullable(z.record(z.string(), z.unknown())),
});

const auditLog = {
  list: endpoint({
    method: 'GET',
    path: '/console/api/audit-log',
    key: 'session',
    description:
      'Lists who changed what, newest first: the newest 10,000 entries of the range, among which a person or an action is looked for, and `total` counts no further.',
    query: auditLogQuery,
    data: z.array(auditEntry),
    paginated: true,
    sample: {
      query: { page: '1' },
      message: 'Audit log fetched',
      data: [
        {
          id: 7,
          time: sampleTime,
          mode: 'test',
          actor: 'ada@shop.example, owner 01J9',
          person: { id: '01J9ZQ8A0B1C2D3E4F5G6H7J8K', email: 'ada@shop.example' },
          action: 'key.revoked',
          subjectId: sampleKey.id,
          before: { last4: '1a2b' },
          after: null,
        },
      ],
    },
  }),
};

const counter = {
  retrieve: endpoint({
    method: 'GET',
    path: '/console/api/counter',
    key: 'session',
    description: 'Returns what the page for a shop’s counter needs to show a payment.',
    data: z.object({
      /** With it, the widget reads the payments that the counter makes; null if the mode has none. */
      publicKey: z.nullable(z.string()),
    }),
    sample: { message: 'Counter fetched', data: { publicKey: 'pk_test_3xAmpl3' } },
  }),
};

export const settingsApi = { goLive, webhook, apiKeys, counter, shop, refundLimits, auditLog };
export type SettingsApi = typeof settingsApi;
