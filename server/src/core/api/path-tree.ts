/** Finds the endpoints at a path, and the methods that the path accepts. */
import { endpointsOf, pathsOf } from 'crypto-checkout/contract';
import type { Endpoint, KeyKind, Method, Endpoints } from 'crypto-checkout/contract';

/** A path and the operations that are declared for it. */
export interface MountedRoute<Operation> {
  /** Has numbered placeholders, as in `/v1/payments/{1}/cancel`, so that it is the same for every method. */
  readonly pattern: string;
  /** Keyed by HTTP method. */
  readonly operations: Map<string, Operation>;
  /** The value of the `Allow` header. */
  allow: string;
  /** True if a public key may call any of the operations. Browsers get CORS headers for these paths. */
  isPublic: boolean;
}

export interface RouteMatch<Operation> {
  readonly route: MountedRoute<Operation>;
  /** The values of the placeholders, in order and still percent-encoded. */
  readonly values: readonly string[];
}

/** An endpoint at one of its paths. */
export interface PathEntry<Operation> {
  readonly method: Method;
  readonly path: string;
  readonly key: KeyKind;
  readonly changesOnGet?: boolean | undefined;
  readonly operation: Operation;
}

interface Node<Operation> {
  readonly named: Map<string, Node<Operation>>;
  placeholder?: Node<Operation>;
  rest?: MountedRoute<Operation>;
  branch?: MountedRoute<Operation>;
}

const placeholder = /^\{\w+\}$/;

/** The names of a path's placeholders, in order. */
export function placeholderNames(path: string): string[] {
  return [...path.matchAll(/\{\*?(\w+)\}/g)].map(([, name = '']) => name);
}

/**
 * Builds a lookup over endpoint paths. In each segment a literal wins over a placeholder, and a placeholder over a rest
 * (`{*name}`), whatever the method. A single trailing slash is ignored.
 */
export function createPathTree<Operation>(
  endpoints: Iterable<PathEntry<Operation>>,
): (path: string) => RouteMatch<Operation> | undefined {
  const root: Node<Operation> = { named: new Map() };
  for (const routed of endpoints) addOperation(branchOf(root, routed.path), routed);
  return (path) => {
    const segments = path.split('/');
    if (segments.length > 2 && segments.at(-1) === '') segments.pop();
    return find(root, segments, 1, []);
  };
}

function branchOf<Operation>(root: Node<Operation>, path: string): MountedRoute<Operation> {
  let count = 0;
  const pattern = path.replace(/\{(\*?)\w+\}/g, (_, rest: string) => `{${rest}${(count += 1)}}`);
  const branch: MountedRoute<Operation> = { pattern, operations: new Map(), allow: '', isPublic: false };
  let node = root;
  for (const segment of path.split('/').slice(1)) {
    if (segment.startsWith('{*')) return (node.rest ??= branch);
    if (placeholder.test(segment)) {
      node = node.placeholder ??= { named: new Map() };
    } else {
      const { named } = node;
      node = named.get(segment) ?? { named: new Map() };
      named.set(segment, node);
    }
  }
  return (node.branch ??= branch);
}

function addOperation<Operation>(
  branch: MountedRoute<Operation>,
  { method, path, key, changesOnGet, operation }: PathEntry<Operation>,
): void {
  if (branch.operations.has(method)) throw new Error(`${method} ${path} is declared twice`);
  branch.operations.set(method, operation);
  // HEAD is GET without the body, and must change nothing.
  if (method === 'GET' && !changesOnGet) branch.operations.set('HEAD', operation);
  branch.allow = [...branch.operations.keys()].join(', ');
  branch.isPublic ||= key === 'public';
}

function find<Operation>(
  node: Node<Operation>,
  segments: readonly string[],
  position: number,
  values: readonly string[],
): RouteMatch<Operation> | undefined {
  const segment = segments[position];
  if (segment === undefined) {
    if (node.branch) return { route: node.branch, values };
    return node.rest && { route: node.rest, values: [...values, ''] };
  }
  const named = node.named.get(segment);
  const found = named && find(named, segments, position + 1, values);
  if (found) return found;
  if (node.placeholder && segment !== '') {
    const match = find(node.placeholder, segments, position + 1, [...values, segment]);
    if (match) return match;
  }
  return node.rest && { route: node.rest, values: [...values, segments.slice(position).join('/')] };
}

/** Builds a lookup of endpoints by path, including aliases. */
export function createFindEndpoints(
  api: Endpoints,
): (path: string) => ReadonlyMap<string, Endpoint> | undefined {
  const find = createPathTree(
    endpointsOf(api).flatMap(({ endpoint }) =>
      pathsOf(endpoint).map((path) => ({
        ...endpoint,
        path,
        operation: endpoint,
      })),
    ),
  );
  return (path) => find(path)?.route.operations;
}
