/** The URL at which browsers reach the console. */
import { trimEnd } from '../../core/shared/trim-end.js';

/** On this machine by the name `localhost`, because passkeys need a name. */
export function consoleUrl(publicUrl: string): string {
  const url = new URL(publicUrl);
  if (url.protocol === 'http:' && /^(127\.|0\.0\.0\.0$|\[::1?\]$)/.test(url.hostname))
    url.hostname = 'localhost';
  return `${trimEnd(url.href, '/')}/console`;
}
