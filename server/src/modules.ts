/** The product: its modules, each after those that it requires. What is not here is not there. */
import type { Module } from './core/module.js';
import { resources, type Described } from './reference/resources.js';
import { coreApi } from 'crypto-checkout/contract';
import { books } from './books/module.js';
import { restore } from './restore/module.js';

export const modules: readonly Module[] = [restore, books];

/** What the product's API is, those of the core first. */
export const product: Described = {
  api: Object.assign({}, coreApi, ...modules.map(({ contract }) => contract)),
  resources: Object.assign({}, resources, ...modules.map((module) => module.resources)),
  modules: modules.map(({ name }) => name),
};
