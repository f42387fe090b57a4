/** The product: its modules, each after those that it requires. What is not here is not there. */
import type { Contract, Module } from './core/module.js';
import { inOne } from './shared/in-one.js';
import { resources, type Described, type Resource } from './reference/resources.js';
import { coreApi } from 'crypto-checkout/contract';
import { books } from './books/module.js';
import { reconciliation } from './reconciliation/module.js';
import { restore } from './restore/module.js';

export const modules: readonly Module[] = [restore, reconciliation, books];

/** What the product's API is, those of the core first. */
export const product: Described = {
  api: inOne<Contract[string]>([coreApi, ...modules.map(({ contract }) => contract)]),
  resources: inOne<Resource>([resources, ...modules.map((module) => module.resources)]),
  modules: modules.map(({ name }) => name),
};
