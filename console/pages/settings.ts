/**
 * The shop as payers see it, the team, the person's sessions and e-mail, the networks' health, and the audit log.
 *
 * @place {"order": 190, "label": "Settings", "permission": "sessions.list"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import { consoleApi } from '../../src/contract/console.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { home } from '../../src/contract/home.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/settings.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { commands } from '../ui/commands.js';
import { outside } from '../ui/copy.js';
import { details, section, tag } from '../ui/details.js';
import { table } from '../ui/table.js';
import { auditTable, type AuditEntry } from './audit-parts.js';
import { loadWidget, previewSection } from './preview-parts.js';
import { ownMailSection, payerMailSection, type OwnMail, type PayerMail } from './mail-parts.js';
import { passkeySection, type Passkey } from './passkey-parts.js';
import { zoneSection } from './zone-parts.js';
import { invite, sessionSection, teamSection, type Member, type OpenSession } from './team-parts.js';

type Shop = ParsedData<typeof consoleApi.shop.retrieve>;
type ApiKey = ParsedData<typeof consoleApi.apiKeys.list>[number];
type Network = ParsedData<typeof home.listNetworks>[number];

/** Parts that the role may not see are undefined. */
interface Data {
  readonly shop: Shop | undefined;
  readonly team: readonly Member[] | undefined;
  readonly sessions: readonly OpenSession[];
  readonly passkeys: readonly Passkey[];
  readonly networks: readonly Network[] | undefined;
  readonly audit: readonly AuditEntry[] | undefined;
  readonly publicKey: string | undefined;
  readonly ownMail: OwnMail | undefined;
  readonly payerMail: PayerMail | undefined;
}

async function load(view: View): Promise<Data> {
  const { api, signal, can } = view;
  const [shop, team, sessions, passkeys, networks, audit, keys, ownMail, payerMail] = await Promise.all([
    can('shop.retrieve') ? api(consoleApi.shop.retrieve, {}, signal) : undefined,
    can('team.list') ? api(consoleApi.team.list, {}, signal) : undefined,
    api(consoleApi.sessions.list, {}, signal),
    api(consoleApi.passkeys.list, {}, signal),
    can('home.listNetworks') ? api(home.listNetworks, {}, signal) : undefined,
    can('auditLog.list') ? api(consoleApi.auditLog.list, { query: { skip: 5 } }, signal) : undefined,
    can('apiKeys.list') ? api(consoleApi.apiKeys.list, { query: { skip: 100 } }, signal) : undefined,
    can('ownMail.retrieve') ? api(consoleApi.ownMail.retrieve, {}, signal) : undefined,
    can('payerMail.retrieve') ? api(consoleApi.payerMail.retrieve, {}, signal) : undefined,
    loadWidget(view),
  ]);
  const isPublic = ({ kind, revokedAt }: ApiKey) => kind === 'public' && revokedAt === null;
  return {
    ...{ shop: shop?.data, team: team?.data, sessions: sessions.data, passkeys: passkeys.data },
    ...{ networks: networks?.data, audit: audit?.data, publicKey: keys?.data.find(isPublic)?.key },
    ...{ ownMail: ownMail?.data, payerMail: payerMail?.data },
  };
}

function render(data: Data, view: View): TemplateResult {
  const { shop, team, sessions, passkeys, networks, audit, publicKey, ownMail, payerMail } = data;
  return html`<div class="panels">
    ${team ? teamSection(team, view) : nothing} ${networks ? networkSection(networks, view) : nothing}
    ${
      shop
        ? html`${shopSection(shop, view)} ${zoneSection(shop, view)}
          ${previewSection({ name: shop.businessName, logo: shop.logo, publicKey }, view)}`
        : nothing
    }
    ${payerMail ? payerMailSection(payerMail, view) : nothing}
    ${ownMail ? ownMailSection(ownMail, view) : nothing} ${passkeySection(passkeys, view)}
    ${sessionSection(sessions, view)}
    ${
      audit
        ? section(
            texts.audit,
            html`${auditTable(audit, view)} ${commands(view, [[texts.auditCommand, 'audit check']])}`,
            html`<a class="button" href=${view.link('audit')}>${texts.auditAll}</a>`,
          )
        : nothing
    }
  </div>`;
}

function networkSection(networks: readonly Network[], view: View): TemplateResult {
  return section(
    texts.networks,
    html`${table<Network>({
      label: texts.networks,
      rows: networks,
      view,
      columns: [
        { label: texts.network, cell: ({ name }) => name },
        {
          label: texts.state,
          kind: 'status',
          cell: ({ isOffered }) =>
            tag(isOffered ? texts.offered : texts.notOffered, isOffered ? 'good' : 'bad'),
        },
        {
          label: texts.behind,
          kind: 'money',
          cell: ({ lagSeconds }) => (lagSeconds === null ? texts.notRead : texts.seconds(lagSeconds)),
        },
        { label: texts.node, cell: ({ node }) => node ?? '–' },
        { label: texts.problems, kind: 'prose', cell: ({ problems }) => problems.join('. ') || '–' },
      ],
      empty: texts.noNetworks,
    })}
    ${commands(view, [[texts.networksCommand, 'chains status']])}`,
  );
}

function shopSection(shop: Shop, view: View): TemplateResult {
  const { merchant } = view.session;
  const limits = (all: Readonly<Record<string, string>>) =>
    Object.entries(all)
      .map(([currency, limit]) => `${limit} ${currency}`)
      .join(', ') || '–';
  return section(
    texts.shop,
    html`${details([
        [texts.name, shop.businessName],
        [texts.logo, shop.logo && outside(shop.logo, shop.logo)],
        [texts.support, shop.supportUrl],
        [texts.origins, shop.redirectOrigins.join(', ')],
      ])}
      <h3>${texts.policy}</h3>
      ${details([
        [texts.fee, `${shop.feeBasisPoints / 100} %`],
        [texts.transfers, texts.transfersTo[shop.transfers]],
        [texts.dailyLimits, limits(shop.dailyLimits)],
        [texts.dailyRefunds, limits(shop.dailyRefunds)],
        [texts.autoRefund, limits(shop.autoRefund)],
      ])}
      <h3>${common.commandLine}</h3>
      ${commands(view, [
        [texts.policyCommand, `merchants update ${merchant.id} --daily-limit USDT=1000`],
        [texts.keysCommand, `deposit-keys list --merchant ${merchant.id}`],
      ])}`,
    button(view, { text: texts.change, permission: 'shop.update', run: () => change(shop, view) }),
  );
}

async function change(shop: Shop, view: View): Promise<void> {
  const values = await view.ask({
    title: texts.changeTitle,
    fields: [
      { name: 'businessName', label: texts.name, value: shop.businessName, isRequired: true },
      { name: 'logo', label: texts.logo, type: 'url', value: shop.logo, hint: texts.logoHint },
      { name: 'supportUrl', label: texts.support, value: shop.supportUrl, hint: texts.supportHint },
      {
        ...{ name: 'origins', label: texts.origins, isLong: true, hint: texts.originsHint },
        value: shop.redirectOrigins.join('\n'),
      },
    ],
    action: texts.save,
  });
  if (!values) return;
  const { businessName, logo, supportUrl, origins = '' } = values;
  const redirectOrigins = origins.split(/[\s,]+/).filter((one) => one !== '');
  const body = { businessName, logo, supportUrl, redirectOrigins };
  await view.act(() => view.api(consoleApi.shop.update, { body }), texts.saved);
}

export default page<Data>({
  title: () => texts.title,
  load,
  render,
  actions: { create: invite },
  everyMs: 15_000,
});
