/** Messages to a merchant's own people: each chooses, and gets only what the role may see. None of them can move money. */
import { staffMailKinds, type PaymentRecord, type Role, type StaffMailKind } from 'crypto-checkout/contract';
import type { Core } from '../../core/core.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { Colleague, Trouble } from '../../core/hooks.js';
import type { AuditActor, NewAuditEntry } from '../../core/merchants/audit-log.js';
import { money, price } from '../../core/money/shown.js';
import { invalidField, notFound } from '../../core/shared/problem.js';
import { modes, scopeOf, type Scope } from '../../core/shared/scope.js';
import { addDays, dayOf } from '../../core/merchants/time-zone.js';
import type { NewEvent } from '../../core/webhooks/outbox.js';
import { composeForStaff, moment, shortened, type Message } from './compose.js';
import { pageOf, reasonOf, reasons, shownBy } from './staff-kinds.js';
import type { MailStore } from './store.js';
import type { MailRow, MailTable } from './tables.js';
import { mailLanguages, textsOf } from './texts.js';

declare module '../../core/merchants/audit-log.js' {
  interface AuditActions extends Record<'mail.staff_chosen', true> {}
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** When a day's digest is sent, after midnight in the shop's zone. */
const digestMs = 6 * hourMs;
/** The most messages of one kind to one person: the console has the rest, and the digest counts them. */
const mostADay = 30;
/** A network that catches up on its own needs nobody. */
const behindMs = 5 * 60_000;

interface Notice extends Scope {
  readonly kind: StaffMailKind;
  /** Only one message of each kind says it to each person. */
  readonly once: string;
  readonly payment_id?: string;
  readonly amount?: string | null;
  readonly about?: string;
}

export type StaffMailDeps = Pick<
  Core,
  'hooks' | 'clock' | 'database' | 'described' | 'merchants' | 'auditLog' | 'networks' | 'currencies'
>;

/** @param rowOf a new message of a scope */
export function createStaffMail(core: StaffMailDeps, store: MailStore, rowOf: (scope: Scope) => MailRow) {
  const { hooks, clock, database, described, merchants, auditLog } = core;
  const rights = new Map<Role, ReadonlySet<string>>();
  /** When each network was first seen behind, real time, by mode and code. */
  const behind = new Map<string, number>();

  function maySee(role: Role, kind: StaffMailKind): boolean {
    let known = rights.get(role);
    if (!known) {
      known = new Set(described.permissions.of(role, { ...described.api, ...described.console }));
      rights.set(role, known);
    }
    return known.has(shownBy[kind]);
  }

  async function wantedBy(reader: Reader, { merchantId, mode }: Scope, kind: StaffMailKind) {
    const chosen = await store.staffChoices(reader, { merchantId, mode });
    return chosen.filter(({ kinds }) => kinds.includes(kind)).map(({ person_id: id }) => id);
  }

  /** @param personId only to this person */
  async function add(transaction: Transaction, notice: Notice, personId?: string): Promise<void> {
    const { merchantId, mode, kind, once, ...more } = notice;
    const ids = (await wantedBy(transaction, notice, kind)).filter((id) => id === (personId ?? id));
    if (ids.length === 0) return;
    const team = await hooks.staffOf(transaction, merchantId);
    const now = clock.real();
    for (const { id } of team.filter((one) => ids.includes(one.id) && maySee(one.role, kind))) {
      if ((await store.countSince(transaction, id, kind, now - dayMs)) >= mostADay) continue;
      await store.insertOnce(transaction, {
        ...rowOf({ merchantId, mode }),
        ...more,
        kind,
        person_id: id,
        once: [kind, id, mode, once].join(' '),
      });
    }
  }

  const find = async (reader: Reader, merchantId: string, matches: (one: Colleague) => boolean) =>
    (await hooks.staffOf(reader, merchantId)).find(matches);

  const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10);

  async function digestOf(scope: Scope, date: string) {
    const overview = await hooks.overview(scope);
    const days = overview?.volume.filter((day) => day.date === date) ?? [];
    return {
      date,
      totals: days.map((day) => `${price(day.amount, day.currency)} (${day.payments})`).join(', '),
      waiting: String(overview?.attention.reduce((sum, { count }) => sum + count, 0) ?? 0),
    };
  }

  /** False once somebody has decided. */
  const isWaiting = ({ refunds = [] }: PaymentRecord) =>
    refunds.some(({ status }) => status === 'awaiting_approval');

  return {
    hears: async (reader: Reader, scope: Scope): Promise<boolean> =>
      (await store.staffChoices(reader, scope)).some(
        ({ kinds }) => kinds.includes('needsPerson') || kinds.includes('refundToApprove'),
      ),

    async onEvent(transaction: Transaction, event: NewEvent): Promise<void> {
      const { merchantId, mode, type, subjectId, data } = event;
      const scope = { merchantId, mode };
      const reason = reasonOf(type, data);
      if (reason !== undefined) {
        const once = `${subjectId} ${reason}`;
        await add(transaction, { ...scope, kind: 'needsPerson', once, payment_id: subjectId, about: reason });
      } else if (data['status'] === 'awaiting_approval') {
        const { paymentId, amount, currency } = data;
        await add(transaction, {
          ...scope,
          kind: 'refundToApprove',
          once: subjectId,
          payment_id: String(paymentId),
          amount: money(Number(amount), String(currency)),
        });
      }
    },

    async onAudited(transaction: Transaction, entry: NewAuditEntry): Promise<void> {
      const { merchantId, actor, subjectId: once, mode } = entry;
      // Of another module, which may not be there.
      const action: string = entry.action;
      if (action === 'key.created' && mode)
        await add(transaction, { merchantId, mode, kind: 'newKey', once });
      if (action === 'webhook.disabled' && mode)
        await add(transaction, { merchantId, mode, kind: 'webhookFailing', once: dateOf(clock.real()) });
      if (action !== 'session.started' || typeof actor === 'string') return;
      for (const one of ['live', 'test'] as const) {
        if (!(await wantedBy(transaction, { merchantId, mode: one }, 'signIn')).includes(actor.id)) continue;
        return add(transaction, { merchantId, mode: one, kind: 'signIn', once }, actor.id);
      }
    },

    async onTrouble(transaction: Transaction, trouble: Trouble): Promise<void> {
      const { merchantId, mode, code, network: about = '', amount = null } = trouble;
      const scope = { merchantId, mode };
      const date = dateOf(clock.real());
      if (code === 'webhooks_failing')
        await add(transaction, { ...scope, kind: 'webhookFailing', once: date });
      if (code === 'books_differ')
        await add(transaction, { ...scope, kind: 'shortage', once: `${date} ${about}`, about, amount });
    },

    /** Reports networks that have been behind for a while, at most once a day each. */
    async lookAtNetworks(): Promise<void> {
      const now = clock.real();
      const late = core.networks().filter(({ mode, network, isOffered }) => {
        const key = `${mode} ${network}`;
        if (isOffered) behind.delete(key);
        else behind.set(key, behind.get(key) ?? now);
        return !isOffered && now - (behind.get(key) ?? now) >= behindMs;
      });
      for (const { mode, network } of late) {
        const about = core.currencies.network(mode, network)?.name ?? network;
        const once = `${dateOf(now)} ${network}`;
        for (const merchantId of await store.merchantsWanting(database.reader, mode, 'nodeBehind'))
          await database.write((transaction) =>
            add(transaction, { merchantId, mode, kind: 'nodeBehind', once, about }),
          );
      }
    },

    /** Adds the digests of yesterday that are not there yet. */
    async addDigests(): Promise<void> {
      for (const mode of modes)
        for (const merchantId of await store.merchantsWanting(database.reader, mode, 'digest')) {
          const { time_zone: zone } = await merchants.settings(database.reader, merchantId);
          const today = dayOf(zone ?? 'UTC', clock.now({ merchantId, mode }) - digestMs);
          const about = addDays(today, -1);
          await database.write((transaction) =>
            add(transaction, { merchantId, mode, kind: 'digest', once: about, about }),
          );
        }
    },

    /** A message as it is now, and its receiver; why it is not sent any more. */
    async letter(
      row: MailTable & { readonly kind: StaffMailKind },
      payment: PaymentRecord | undefined,
      { offUrl, publicUrl }: { readonly offUrl: string; readonly publicUrl: string },
    ): Promise<(Message & { readonly to: string; readonly shop: string }) | { readonly dropped: string }> {
      const { kind, merchant_id: merchantId, mode, about } = row;
      const person = await find(database.reader, merchantId, ({ id }) => id === row.person_id);
      if (!person || !maySee(person.role, kind)) return { dropped: 'The person may not see it any more' };
      const chosen = (await store.staffChoices(database.reader, scopeOf(row))).find(
        (one) => one.person_id === person.id,
      );
      if (!chosen?.kinds.includes(kind)) return { dropped: 'The person wants no such messages' };
      const url = hooks.consoleUrl();
      if (url === undefined) return { dropped: 'The console is off' };
      if (kind === 'refundToApprove' && !(payment && isWaiting(payment)))
        return { dropped: 'It was out of date' };
      const { business_name: shop } = await merchants.settings(database.reader, merchantId);
      const texts = textsOf(chosen.language);
      const reason = reasons.find((one) => one === about);
      const digest = kind === 'digest' ? await digestOf(scopeOf(row), about ?? '') : undefined;
      const record = kind === 'needsPerson' ? `/${row.payment_id}` : '';
      const values = {
        shop: shortened(shop),
        order: shortened(payment?.txRef ?? row.payment_id ?? ''),
        amount: row.amount ?? '',
        network: about ?? '',
        time: moment(row.created_at),
        why: reason ? texts[reason] : '',
        origin: new URL(publicUrl).host,
        received: money(payment?.amountSeen ?? 0, payment?.currency ?? ''),
        date: digest?.date ?? '',
        totals: digest?.totals || texts.nothing,
        waiting: digest?.waiting ?? '',
      };
      const message = composeForStaff({
        kind,
        values,
        mode,
        offUrl,
        language: chosen.language,
        url: `${url}/${mode}/${pageOf[kind]}${record}`,
      });
      return { ...message, to: person.email, shop };
    },

    /** The choices of somebody in one mode. */
    async chosenBy(reader: Reader, scope: Scope, person: Pick<Colleague, 'id' | 'role'>) {
      const chosen = (await store.staffChoices(reader, scope)).find(({ person_id: id }) => id === person.id);
      return {
        kinds: [...(chosen?.kinds ?? [])],
        language: chosen?.language ?? 'en',
        offered: offeredTo(person.role),
      };
    },

    /** Problem: `validation_error` for kinds that the role may not see. */
    async choose(
      transaction: Transaction,
      scope: Scope,
      person: Pick<Colleague, 'id' | 'role'>,
      { kinds, language }: { readonly kinds: readonly StaffMailKind[]; readonly language: string },
      actor: AuditActor,
    ): Promise<void> {
      if (!mailLanguages.includes(language))
        throw invalidField('language', `Use one of ${mailLanguages.join(', ')}`);
      const hidden = kinds.find((kind) => !maySee(person.role, kind));
      if (hidden) throw invalidField('kinds', `${hidden}: the role ${person.role} may not see it`);
      await store.putStaffChoices(transaction, {
        person_id: person.id,
        merchant_id: scope.merchantId,
        mode: scope.mode,
        kinds: [...new Set(kinds)],
        language,
        updated_at: clock.real(),
      });
      await auditLog.record(transaction, {
        ...scope,
        actor,
        action: 'mail.staff_chosen',
        subjectId: person.id,
        after: { kinds: kinds.join(', '), language },
      });
    },

    /** Problem: `not_found`. */
    async findByEmail(reader: Reader, merchantId: string, email: string): Promise<Colleague> {
      const wanted = email.trim().toLowerCase();
      const found = await find(reader, merchantId, (one) => one.email === wanted);
      if (!found) throw notFound('person');
      return found;
    },

    /** Deletes the choices of those who have left. */
    async forget(): Promise<void> {
      const rows = await store.staffChoices(database.reader, {});
      for (const merchantId of new Set(rows.map((row) => row.merchant_id))) {
        const team = (await hooks.staffOf(database.reader, merchantId)).map(({ id }) => id);
        const gone = rows.filter((row) => row.merchant_id === merchantId && !team.includes(row.person_id));
        for (const { person_id: id, mode } of gone)
          await database.write((transaction) => store.deleteStaffChoices(transaction, id, mode));
      }
    },
  };

  function offeredTo(role: Role): StaffMailKind[] {
    return staffMailKinds.filter((kind) => maySee(role, kind));
  }
}
