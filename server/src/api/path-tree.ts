/** Finds the endpoints of a path: what is mounted where, and whose methods it answers to. */
import { api, type Endpoint, type KeyKind, type Method } from 'crypto-checkout/contract';

/** One path with all that is declared for it. */
export interface MountedRoute<Operation> {
  /** With numbered placeholders, as in `/v1/payments/{1}/cancel`: the same for every method. */
  readonly pattern: string;
  readonly operations: ReadonlyMap<string, Operation>;
  /** The methods, for `Allow`. */
  readonly allow: string;
  /** Whether a public key may call any of the operations, so that browsers must be able to. */
  readonly isPublic: boolean;
}

export interface RouteMatch<Operation> {
  readonly route: MountedRoute<Operation>;
  /** What stands for the placeholders, in their order and still percent-encoded. */
  readonly values: readonly string[];
}

/** An endpoint at one of its paths. */
export interface PathEntry<Operation> {
  readonly method: Method;
  readonly path: string;
  readonly key: KeyKind;
  readonly operation: Operation;
}

interface Node<Operation> {
  readonly named: Map<string, Node<Operation>>;
  placeholder?: Node<Operation>;
  rest?: Branch<Operation>;
  branch?: Branch<Operation>;
}

interface Branch<Operation> extends MountedRoute<Operation> {
  operations: Map<string, Operation>;
  allow: string;
  isPublic: boolean;
}

const placeholder = /^\{\*?\w+\}$/;

/** The names of a path's placeholders, in their order. */
export function placeholderNames(path: string): string[] {
  return path
    .split('/')
    .filter((segment) => placeholder.test(segment))
    .map((segment) => segment.replace(/^\{\*?|\}$/g, ''));
}

/**
 * A look-up over the paths of endpoints. Segment by segment, a name beats a placeholder and a
 * placeholder beats a rest (`{*name}`), whatever the method. One slash at the end is ignored.
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

function branchOf<Operation>(root: Node<Operation>, path: string): Branch<Operation> {
  const segments = path.split('/').slice(1);
  let count = 0;
  const pattern = path.replace(/\{(\*?)\w+\}/g, (_, rest: string) => `{${rest}${(count += 1)}}`);
  const empty = (): Branch<Operation> => ({ pattern, operations: new Map(), allow: '', isPublic: false });
  let node = root;
  for (const segment of segments) {
    if (segment.startsWith('{*')) return (node.rest ??= empty());
    if (placeholder.test(segment)) {
      node = node.placeholder ??= { named: new Map() };
    } else {
      const next: Node<Operation> = node.named.get(segment) ?? { named: new Map() };
      node.named.set(segment, next);
      node = next;
    }
  }
  return (node.branch ??= empty());
}

function addOperation<Operation>(
  branch: Branch<Operation>,
  { method, path, key, operation }: PathEntry<Operation>,
): void {
  if (branch.operations.has(method)) throw new Error(`${method} ${path} is declared twice`);
  branch.operations.set(method, operation);
  // HEAD is GET without the body.
  if (method === 'GET') branch.operations.set('HEAD', operation);
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

/** A look-up of the API's endpoints by path, aliases included. */
export function createFindEndpoints(): (path: string) => ReadonlyMap<string, Endpoint> | undefined {
  const endpoints = Object.values(api).flatMap((verbs) => Object.values<Endpoint>(verbs));
  const find = createPathTree(
    endpoints.flatMap((endpoint) =>
      [endpoint.path, ...(endpoint.aliases ?? [])].map((path) => ({
        ...endpoint,
        path,
        operation: endpoint,
      })),
    ),
  );
  return (path) => find(path)?.route.operations;
}
