/** The fresh sign-in that money, keys and the team need: asked for with a passkey, or with a new link in this browser. */
import { peopleApi, type ConsoleSession } from '../src/contract/console-people.js';
import { CallFailure, createApi } from './api.js';
import type { View } from './page.js';
import { signInByPasskey } from './passkeys.js';
import { messageOf } from './problems.js';

export interface SignInHost {
  readonly apiUrl: string;
  /** Called with each session that was read. */
  readonly enter: (session: ConsoleSession) => void;
  readonly ask: View['ask'];
  readonly say: View['say'];
}

/** Time to fill in a form. The server decides in any case. */
const formMs = 60_000;
const isProved = ({ provedUntil }: ConsoleSession) => Date.parse(provedUntil) - formMs > Date.now();

async function readSession({ apiUrl, enter }: SignInHost): Promise<ConsoleSession> {
  const { data } = await createApi(apiUrl, 'test')(peopleApi.session.retrieve, {});
  enter(data);
  return data;
}

/** False if the person gave up. */
async function askToSignIn(host: SignInHost): Promise<boolean> {
  const { freshSignInDialog } = await import('./fresh-sign-in-dialog.js');
  // A passkey may have been added since the session was read.
  const session = await readSession(host);
  const answer = await host.ask(freshSignInDialog(session, host));
  if (!answer) return false;
  if (session.passkeys > 0) await usePasskey(host);
  return true;
}

/** If it fails, the question is asked again. */
async function usePasskey({ apiUrl, enter, say }: SignInHost): Promise<void> {
  try {
    enter(await signInByPasskey(createApi(apiUrl, 'test')));
  } catch (error) {
    if (error instanceof CallFailure) say(messageOf(error));
  }
}

/** A new sign-in is enough, even if this browser's clock is wrong. False if the person gave up. */
export async function prove(before: ConsoleSession, host: SignInHost): Promise<boolean> {
  let now = before;
  while (!isProved(now) && now.provedUntil === before.provedUntil) {
    if (!isProved(await readSession(host)) && !(await askToSignIn(host))) return false;
    now = await readSession(host);
  }
  return true;
}

/** Runs it again after each fresh sign-in that the server wants. Undefined if the person gave up. */
export async function withFreshSignIn<T>(
  run: () => Promise<T>,
  host: SignInHost,
): Promise<{ readonly value: T } | undefined> {
  try {
    return { value: await run() };
  } catch (error) {
    if (!(error instanceof CallFailure) || error.code !== 'step_up_required') throw error;
    return (await askToSignIn(host)) ? withFreshSignIn(run, host) : undefined;
  }
}
