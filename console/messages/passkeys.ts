/** The texts about passkeys. */
import { pick } from './pick.js';

export const texts = pick({
  en: {
    title: 'Passkeys',
    text: 'Sign in with a finger, a face or a PIN instead of a link. A passkey stays on your device, or in your password manager.',
    none: 'No passkey yet: add one, and no link is needed the next time.',
    name: 'Name',
    since: 'Added',
    lastUse: 'Last used',
    never: 'Never',
    actions: 'Actions',
    add: 'Add a passkey',
    addTitle: 'Add a passkey',
    addText: 'The name is for you, to tell your passkeys apart. Your browser asks next.',
    suggested: 'This device',
    added: 'Passkey added',
    remove: 'Remove',
    removeTitle: (name: string) => `Remove the passkey “${name}”?`,
    removeText:
      'Nobody can sign in with it any longer. Sessions that it started continue until you end them.',
    removed: 'Passkey removed',
  },
});
