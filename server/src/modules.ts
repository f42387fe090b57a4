/** The product: the list of its modules. A module that is not listed does not exist. */
import type { Module } from './core/module.js';
import type { Variable } from './core/config.js';
import { inOne } from './core/shared/in-one.js';
import { coreAccess, createPermissions } from './core/shared/permissions.js';
import { resources, type Described, type Resource } from './core/reference/resources.js';
import { coreApi, type Endpoints } from 'crypto-checkout/contract';
import { books } from './modules/books/module.js';
import { consoleModule } from './modules/console/module.js';
import { demoShop } from './modules/demo-shop/module.js';
import { docsSite } from './modules/docs-site/module.js';
import { erasure } from './modules/erasure/module.js';
import { links } from './modules/links/module.js';
import { mail } from './modules/mail/module.js';
import { networks } from './modules/networks/module.js';
import { psbtPayouts } from './modules/psbt-payouts/module.js';
import { reconciliation } from './modules/reconciliation/module.js';
import { refunds } from './modules/refunds/module.js';
import { restore } from './modules/restore/module.js';
import { setup } from './modules/setup/module.js';
import { treasury } from './modules/treasury/module.js';
import { coreEventTypes, type EventType } from './core/webhooks/event-types.js';

export const modules: readonly Module[] = [
  networks,
  treasury,
  psbtPayouts,
  refunds,
  mail,
  erasure,
  restore,
  reconciliation,
  books,
  links,
  demoShop,
  docsSite,
  setup,
  consoleModule,
];

/** The environment variables of the modules. */
export const settings = inOne<Variable>(modules.map((module) => module.settings));

/** The product's API: the core's resources first, then those of its modules. */
export const product: Described = {
  api: inOne<Endpoints[string]>([coreApi, ...modules.map(({ contract }) => contract)]),
  console: inOne<Endpoints[string]>(modules.map((one) => one.consoleContract)),
  permissions: createPermissions([coreAccess, ...modules.map(({ access }) => access)]),
  resources: inOne<Resource>([resources, ...modules.map((module) => module.resources)]),
  eventTypes: inOne<EventType>([coreEventTypes, ...modules.map(({ eventTypes }) => eventTypes)]),
  modules: modules.map(({ name }) => name),
  settings,
};
