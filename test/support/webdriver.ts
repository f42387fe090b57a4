/** Drives a browser over W3C WebDriver, by plain HTTP: the one way into every engine that a test cannot reach otherwise. */

/** A page in a browser of some engine. */
export interface Tab {
  /** Resolves when the page has loaded. */
  open(url: string): Promise<void>;
  /**
   * Runs a function in the page, with arguments as JSON, and resolves to its result, also of a promise. The function
   * sees nothing of the test around it. Rejects if the page does not answer within `patienceMs`.
   */
  run<Arguments extends readonly unknown[], Result>(
    script: (...args: Arguments) => Result,
    ...args: Arguments
  ): Promise<Awaited<Result>>;
  /** Types into what has focus, as a person does: letters, and Enter as a line break. */
  type(text: string): Promise<void>;
  /** A screenshot, as PNG. */
  picture(): Promise<Buffer>;
  close(): Promise<void>;
}

/** WebDriver's name of the key. */
const enterKey = '\ue007';

/** A page that does not answer for so long hangs. */
export const patienceMs = 10_000;
/** Beyond the driver's own patience, whose error says more. */
const driverPatienceMs = patienceMs + 2_000;

/**
 * Opens a browser with one page.
 * @param url of the driver, without a trailing slash
 * @param capabilities the browser's properties that the driver needs
 */
export async function openSession(
  url: string,
  capabilities: Readonly<Record<string, unknown>>,
): Promise<Tab> {
  const opened = (await call('POST', `${url}/session`, {
    capabilities: { alwaysMatch: capabilities },
  })) as { sessionId: string };
  const session = `${url}/session/${opened.sessionId}`;
  await call('POST', `${session}/timeouts`, { script: patienceMs, pageLoad: patienceMs });
  return {
    async open(address) {
      await call('POST', `${session}/url`, { url: address });
    },
    async run<Arguments extends readonly unknown[], Result>(
      script: (...args: Arguments) => Result,
      ...args: Arguments
    ): Promise<Awaited<Result>> {
      const answered = await call('POST', `${session}/execute/async`, { script: wrap(script), args });
      const { value, error } = answered as { value?: unknown; error?: string };
      if (error !== undefined) throw new Error(`In the page: ${error}`);
      return value as Awaited<Result>;
    },
    async type(text) {
      const actions = [...text.replaceAll('\n', enterKey)].flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ]);
      await call('POST', `${session}/actions`, { actions: [{ type: 'key', id: 'keyboard', actions }] });
    },
    async picture() {
      return Buffer.from(String(await call('GET', `${session}/screenshot`)), 'base64');
    },
    async close() {
      await call('DELETE', session);
    },
  };
}

/** WebDriver takes the body of a function, whose last argument is called with the result. */
function wrap(script: (...args: never[]) => unknown): string {
  return `const done = arguments[arguments.length - 1];
    const args = Array.prototype.slice.call(arguments, 0, -1);
    Promise.resolve().then(() => (${script.toString()})(...args)).then(
      (value) => done({ value: value === undefined ? null : value }),
      (error) => done({ error: String(error) }),
    );`;
}

async function call(method: string, url: string, body?: unknown): Promise<unknown> {
  const signal = AbortSignal.timeout(driverPatienceMs);
  const sent = { method, signal, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await fetch(url, sent).catch((error: unknown) => {
    throw signal.aborted ? new Error('The page does not answer: it hangs', { cause: error }) : error;
  });
  const { value } = (await response.json()) as { value: unknown };
  if (response.ok) return value;
  const { error = '', message = '' } = value as { error?: string; message?: string };
  throw new Error(`WebDriver: ${error} ${message}`);
}
