/** Assembles the product: the core, and each module of the list. */
import { coreApi, endpointsOf } from 'crypto-checkout/contract';
import type { ForPeople } from './core/api/express-app.js';
import { named, type NamedHandlers } from './core/api/handler.js';
import { createFindEndpoints } from './core/api/path-tree.js';
import { createCore, type Core, type CoreOptions, type Overrides } from './core/core.js';
import { connectOf, type Module, type Running } from './core/module.js';
import { modules, product } from './modules.js';
import { inOne } from './core/shared/in-one.js';
import { theOnly } from './core/shared/the-only.js';

export type { Overrides };

export interface App extends Core {
  /** Run by a server: the parts of the core, and then those of the modules. */
  readonly parts: readonly Running[];
  /** The sign-in of people; undefined if it is off. @throws if two modules have one */
  forPeople(): ForPeople | undefined;
  /** Handlers of all endpoints below `/v1`. */
  createApiHandlers(): NamedHandlers;
  /** Handlers of all endpoints below `/console/api`. */
  createConsoleHandlers(): NamedHandlers;
}

/** Builds everything, but starts nothing. @throws StartError if a file named in the configuration cannot be used */
export async function createApp(options: Omit<CoreOptions, 'described' | 'connect'>): Promise<App> {
  const core = await createCore({ ...options, described: product, connect: connectOf(modules) });
  const endpoints = endpointsOf(product.api).map(({ endpoint }) => endpoint);
  const made: Awaited<ReturnType<Module['create']>>[] = [];
  for (const module of modules) made.push(await module.create(core));
  return {
    ...core,
    parts: [...core.parts, ...made.map(({ parts }) => parts)],
    forPeople: () =>
      theOnly(
        'a sign-in of people',
        made.flatMap(({ module, parts }) => {
          const forPeople = parts.forPeople?.();
          return forPeople ? [{ module, forPeople }] : [];
        }),
      )?.forPeople,
    createApiHandlers: () =>
      inOne([
        named(coreApi, core.createHandlers(endpoints, createFindEndpoints(product.api))),
        ...made.map(({ handlers }) => handlers),
      ]),
    createConsoleHandlers: () => inOne(made.map(({ consoleHandlers }) => consoleHandlers)),
  };
}
