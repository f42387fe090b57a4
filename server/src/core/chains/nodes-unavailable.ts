/** Says that the nodes of a network cannot be asked now. */

export type NodeFault =
  | 'unreachable' // No connection, or it broke.
  | 'timeout' // No complete answer in time.
  | 'refused' // An HTTP status other than 2xx.
  | 'limited' // Too many requests; nothing is sent before the time that the node names.
  | 'too-large' // The node does not take that many calls at once, or answers with too much.
  | 'garbage' // The answer does not match the request.
  | 'wrong-network' // The node is on another chain.
  | 'behind' // The node has not read the newest blocks yet.
  | 'inconsistent'; // Answers about one block do not fit each other.

/** The failure of one node: a fault, or an error with which it answered. */
export interface NodeFailure {
  readonly fault: NodeFault | 'failure';
}

/** No node of a network can be used now. The message has one sentence per node, and no URL. */
export class NodesUnavailable extends Error {
  override readonly name = 'NodesUnavailable';
  /** The last failure of each node, in the order of the configuration. */
  readonly errors: readonly NodeFailure[];

  constructor(message: string, errors: readonly NodeFailure[]) {
    super(message);
    this.errors = errors;
  }

  /** True if a node failed in this way. */
  isAny(fault: NodeFault): boolean {
    return this.errors.some((error) => error.fault === fault);
  }
}
