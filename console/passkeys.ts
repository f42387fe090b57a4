/** Passkeys in the browser. The code that uses them is loaded on demand. */
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser';
import { peopleApi, type ConsoleSession } from '../src/contract/console-people.js';
import type { Api } from './api.js';

const load = () => import('@simplewebauthn/browser');

/**
 * Signs in, or confirms the identity again. Rejects with the server's error, or the browser's own error if the person
 * gave up.
 */
export async function signInByPasskey(api: Api): Promise<ConsoleSession> {
  const { startAuthentication } = await load();
  const { data } = await api(peopleApi.passkeySignIn.start, {});
  // The server creates it with the other half of the library.
  const optionsJSON = data as unknown as PublicKeyCredentialRequestOptionsJSON;
  const answer: AuthenticationResponseJSON = await startAuthentication({ optionsJSON });
  return (await api(peopleApi.passkeySignIn.create, { body: { credential: { ...answer } } })).data;
}

/** Creates a passkey for the signed-in person. */
export async function addPasskey(api: Api, name: string): Promise<void> {
  const { startRegistration } = await load();
  const { data } = await api(peopleApi.passkeys.startCreation, {});
  const optionsJSON = data as unknown as PublicKeyCredentialCreationOptionsJSON;
  const answer: RegistrationResponseJSON = await startRegistration({ optionsJSON });
  await api(peopleApi.passkeys.create, { body: { credential: { ...answer }, name } });
}
