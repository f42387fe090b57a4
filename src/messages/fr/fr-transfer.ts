/** The check of a transfer, in French. No native reader has checked them yet. */
import type { TransferMessages } from '../en.js';

export const texts: TransferMessages = {
  transferField: 'Hash de la transaction ou lien d’un explorateur',
  transferAsk: 'Vérifier',
  transferNoHash:
    'Il n’y a pas de hash ici\u00a0: 64 chiffres et lettres de a à f, dans l’historique de votre portefeuille ou plateforme.',
  transferSecret:
    'On dirait une clé privée ou les mots d’un portefeuille. Rien n’a été envoyé. Qui les connaît peut tout dépenser\u00a0: déplacez vos fonds vers un nouveau portefeuille.',
  transferPaid:
    'Elle a payé ce paiement\u00a0: {amount} sur {network}. Confirmations\u00a0: {confirmations} sur {required}.',
  transferOtherCoin:
    'Elle a apporté {amount} sur {network} à la boutique, mais ce paiement attend {currency} sur {asked}. Adressez-vous à la boutique.',
  transferOtherAddress:
    'Elle est sur {network}, mais n’a rien payé à cette adresse. Comparez l’adresse dans votre portefeuille ou plateforme.',
  transferFailed: 'Elle a échoué sur {network}\u00a0: rien n’a été envoyé.',
  transferUnknown:
    '{network} ne la connaît pas encore. Vérifiez dans quelques minutes. Si vous avez envoyé sur un autre réseau, adressez-vous à la boutique.',
  transferWait: 'Vous avez vérifié souvent. Réessayez dans {seconds} s\u00a0; le paiement reste surveillé.',
};
