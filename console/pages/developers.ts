/**
 * The developers' page: webhooks with their deliveries, and the API keys.
 *
 * @place {"order": 170, "label": "Developers", "permission": "webhooks.list"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import { settingsApi } from '../../src/contract/console-settings.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { webhooks } from '../../src/contract/webhook-deliveries.js';
import { webhookEventType } from '../../src/contract/webhooks.js';
import { time } from '../format.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/developers.js';
import { guarded, page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { commands } from '../ui/commands.js';
import { copyable } from '../ui/copy.js';
import { details, section, tag } from '../ui/details.js';
import { emptyHint } from '../ui/empty.js';
import { listOf, type Rows } from '../ui/list.js';
import { replayButton, replayProgress } from './replay-parts.js';
import { deliveryList, type Delivery } from './webhook-parts.js';

type Webhook = ParsedData<typeof settingsApi.webhook.retrieve>;
type ApiKey = ParsedData<typeof settingsApi.apiKeys.list>[number];

interface Data {
  /** Undefined for roles that may not see it. */
  readonly webhook: Webhook | undefined;
  readonly keys: Rows<ApiKey> | undefined;
  readonly deliveries: Rows<Delivery>;
}

const types = webhookEventType.options;

const keyList = listOf(settingsApi.apiKeys.list, {
  label: texts.keys,
  pageName: 'keysPage',
  columns: (view) => [
    {
      label: texts.key,
      kind: 'hash',
      cell: ({ kind, key }) => (kind === 'public' ? copyable(key, view) : key),
    },
    { label: texts.label, cell: ({ label }) => label || '–' },
    { label: texts.scope, cell: ({ scope }) => (scope ? texts.scopes[scope] : texts.publicScope) },
    { label: texts.created, kind: 'time', cell: ({ createdAt }) => time(createdAt) },
    { label: texts.lastUse, kind: 'time', cell: ({ lastUsedAt }) => time(lastUsedAt) || texts.never },
    { label: common.actions, kind: 'actions', cell: (one) => keyActions(one, view) },
  ],
});

async function load(view: View): Promise<Data> {
  const { api, signal, can } = view;
  const [deliveries, webhook, keys] = await Promise.all([
    deliveryList.load(view),
    can('webhook.retrieve') ? api(settingsApi.webhook.retrieve, {}, signal) : undefined,
    can('apiKeys.list') ? keyList.load(view) : undefined,
  ]);
  return { webhook: webhook?.data, keys, deliveries };
}

function render({ webhook, keys, deliveries }: Data, view: View): TemplateResult {
  const filter = deliveryList.asked(view);
  const isFiltered = Object.values(filter).some((one) => one !== undefined);
  return html`<div class="panels">
    ${webhook ? webhookSection(webhook, view) : nothing}
    ${section(
      texts.deliveries,
      html`${deliveryList.fields(deliveries, view)} ${replayProgress()}
      ${deliveryList.table(
        deliveries,
        view,
        emptyHint(view, texts.noDeliveries, { text: texts.toPayments, page: 'payments' }),
      )}`,
      isFiltered
        ? replayButton(filter, deliveries.pagination?.total ?? 0, view)
        : button(view, {
            text: texts.retryAll,
            permission: 'webhooks.retryFailed',
            run: () => retryAll(view),
          }),
    )}
    ${keys ? keySection(keys, view) : nothing}
  </div>`;
}

function webhookSection({ url, disabledAt }: Webhook, view: View): TemplateResult {
  const state = disabledAt === null ? tag(texts.on, 'good') : tag(texts.off, 'bad');
  return section(
    texts.webhook,
    html`<p>${texts.webhookText(view.mode)}</p>
      ${
        url === ''
          ? html`<p>${texts.noUrl}</p>`
          : details([
              [texts.url, copyable(url, view)],
              [texts.state, state],
            ])
      }`,
    html`${button(view, { text: texts.change, permission: 'webhook.update', isGuarded: true, run: () => change(url, view) })}
    ${
      url === ''
        ? nothing
        : html`${button(view, { text: texts.rotate, permission: 'webhook.rotateSecret', isGuarded: true, run: () => rotate(view) })}
          ${button(view, { text: texts.sample, permission: 'webhooks.sendSample', run: () => sendSample(view) })}`
    }`,
  );
}

async function change(previous: string, view: View): Promise<void> {
  const values = await view.ask({
    title: texts.changeTitle,
    fields: [{ name: 'url', label: texts.url, type: 'url', value: previous, hint: texts.urlHint }],
    action: texts.save,
  });
  if (!values) return;
  const body = { url: values['url'] ?? '' };
  const made = await view.act(() => view.api(settingsApi.webhook.update, { body }), texts.saved);
  if (made?.data.secret) await showSecret(made.data.secret, view);
}

async function rotate(view: View): Promise<void> {
  const { rotateTitle: title, rotateText: text, rotateAction: action } = texts;
  if (!(await view.ask({ title, text, action }))) return;
  const made = await view.act(() => view.api(settingsApi.webhook.rotateSecret, {}));
  if (made?.data.secret) await showSecret(made.data.secret, view);
}

async function showSecret(secret: string, view: View): Promise<void> {
  await view.ask({
    title: texts.secretTitle,
    text: html`<p>${texts.secretText}</p>
      <p>${copyable(secret, view)}</p>`,
  });
}

async function sendSample(view: View): Promise<void> {
  const values = await view.ask({
    title: texts.sampleTitle,
    text: texts.sampleText,
    fields: [{ name: 'type', label: texts.type, options: types.map((one) => [one, one]) }],
    action: texts.sampleAction,
  });
  if (!values) return;
  const type = types.find((one) => one === values['type']);
  const sent = await view.act(() => view.api(webhooks.sendSample, { body: { type } }));
  if (!sent) return;
  const { responseStatus, durationMs, error, responseExcerpt } = sent.data;
  await view.ask({
    title: texts.sampleResult(responseStatus, Math.round(durationMs)),
    text: html`${error === null ? nothing : html`<p>${error}</p>`}
    ${responseExcerpt === '' ? nothing : html`<pre tabindex="0"><code>${responseExcerpt}</code></pre>`}`,
  });
}

async function retryAll(view: View): Promise<void> {
  const done = await view.act(() => view.api(webhooks.retryFailed, {}));
  if (done) view.say(texts.retriedAll(done.data.retried, done.data.remaining));
}

function keySection(keys: Rows<ApiKey>, view: View): TemplateResult {
  return section(
    texts.keys,
    html`${keyList.table(keys, view, texts.noKeys)}
      <h3>${common.commandLine}</h3>
      ${commands(view, [
        [texts.liveKey, `keys create --merchant ${view.session.merchant.id} --kind secret --mode live`],
        [texts.livePublicKey, `keys create --merchant ${view.session.merchant.id} --kind public --mode live`],
      ])}
      <p><small>${texts.requestIds}</small> <code>grep REQUEST_ID server.log</code></p>`,
    view.mode === 'test'
      ? button(view, {
          text: texts.newKey,
          permission: 'apiKeys.create',
          isGuarded: true,
          run: () => createKey(view),
        })
      : nothing,
  );
}

function keyActions({ id, key, revokedAt, expiresAt }: ApiKey, view: View): TemplateResult | string {
  if (revokedAt !== null) return html`${tag(texts.revoked)} <small>${time(revokedAt)}</small>`;
  const end = expiresAt === null ? '' : html`<small>${texts.ends} ${time(expiresAt)}</small>`;
  const run = () => revoke(id, key, view);
  return html`${end}
  ${button(view, { text: texts.revoke, permission: 'apiKeys.revoke', isGuarded: true, run, kind: 'small' })}`;
}

async function revoke(id: string, key: string, view: View): Promise<void> {
  const { revokeText: text, revokeAction: action } = texts;
  if (!(await view.ask({ title: texts.revokeTitle(key), text, action, isFinal: true }))) return;
  await view.act(() => view.api(settingsApi.apiKeys.revoke, { params: { key_id: id } }), texts.revokedDone);
}

async function createKey(view: View): Promise<void> {
  const values = await view.ask({
    title: texts.newKeyTitle,
    fields: [
      { name: 'kind', label: texts.kind, options: Object.entries(texts.kinds) },
      { name: 'scope', label: texts.scope, options: Object.entries(texts.scopes) },
      { name: 'label', label: `${texts.label} (${common.optional})` },
    ],
    action: texts.makeKey,
  });
  if (!values) return;
  const isPublic = values['kind'] === 'public';
  const scopes = Object.keys(texts.scopes) as (keyof typeof texts.scopes)[];
  const body = {
    kind: isPublic ? ('public' as const) : ('secret' as const),
    scope: isPublic ? undefined : scopes.find((one) => one === values['scope']),
    label: values['label'],
  };
  const made = await view.act(() => view.api(settingsApi.apiKeys.create, { body }));
  if (!made) return;
  await view.ask({
    title: texts.keyTitle,
    text: html`<p>${texts.keyText}</p>
      <p>${copyable(made.data.key, view)}</p>`,
  });
  // The API lists the newest first: the first page has it.
  if (view.query.has('keysPage')) view.filter({ keysPage: undefined });
}

export default page<Data>({
  title: () => texts.title,
  load,
  render,
  actions: { create: guarded(createKey) },
  everyMs: 15_000,
});
