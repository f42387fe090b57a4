/** Receives change notifications from the server while somebody looks at the page. */

/**
 * The server sends something every 15 s. After this long without anything, the connection is dead, no matter what the
 * browser thinks.
 */
const silenceMs = 40_000;

export interface Following {
  /** Delay before the page is read again without a notification; undefined until the server can send them. */
  readonly waitMs: number | undefined;
  end(): void;
}

/** The server's mark of the same data. Undefined where the browser cannot compute it. */
export async function markOf(data: unknown): Promise<string | undefined> {
  if (data === undefined || !isSecureContext) return undefined;
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(data)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * @param url of the stream
 * @param heard called with `true` when something has changed
 */
export function followChanges(url: string, heard: (isChanged: boolean) => void): Following {
  const source = new EventSource(url);
  let heardAt = Number.NEGATIVE_INFINITY;
  const listen = (event: string, isChanged: boolean) =>
    source.addEventListener(event, () => {
      heardAt = performance.now();
      heard(isChanged);
    });
  listen('changed', true);
  listen('beat', false);
  return {
    get waitMs() {
      const isHeard = source.readyState === EventSource.OPEN && performance.now() < heardAt + silenceMs;
      return isHeard ? silenceMs : undefined;
    },
    end: () => source.close(),
  };
}
