/** Types for the part of autocannon that the benchmarks use. It ships no types itself. */
declare module 'autocannon' {
  export interface RequestContext {
    id?: string;
  }

  export interface Request {
    method: string;
    body?: string;
    path?: string;
    setupRequest?: (request: Request, context: RequestContext) => Request;
    onResponse?: (status: number, body: string, context: RequestContext) => void;
  }

  export interface Options {
    url: string;
    connections: number;
    /** The total number of requests, divided evenly among the connections. */
    amount: number;
    /** Milliseconds between checks whether all requests are done. */
    sampleInt: number;
    headers: Record<string, string>;
    requests: Request[];
  }

  export interface Result {
    errors: number;
    timeouts: number;
    statusCodeStats: Record<string, { count: number }>;
  }

  export interface Run extends Promise<Result> {
    on(
      event: 'response',
      listener: (client: object, status: number, bytes: number, milliseconds: number) => void,
    ): this;
  }

  export default function autocannon(options: Options): Run;
}
