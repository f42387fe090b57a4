/** What comes after the QR code, in French. No native reader has checked them yet. */
import type { AfterQrMessages } from './en.js';
import { plural } from './plural.js';

const confirmations = { one: 'confirmation', other: 'confirmations' };

export const texts: AfterQrMessages = {
  nothingSeen: 'Rien de détecté pour le moment, vérifié à {time}',
  nothingNew: 'Rien de nouveau, vérifié à {time}',
  checkFailed: 'La vérification n’a pas abouti. Elle continue toute seule.',
  fiveMinutes: 'Il reste 5 minutes pour payer.',
  oneMinute: 'Il reste 1 minute pour payer.',
  thirtySeconds: 'Il reste 30 secondes pour payer.',
  timeUpHeading: 'Temps écoulé',
  timeUp: 'Dernière vérification en cours. N’envoyez plus rien.',
  problemReference: 'Référence pour l’assistance\u00a0: {requestId}',

  cancelQuestion: 'Annuler ce paiement\u00a0?',
  cancelWarning: 'Ce que vous avez déjà envoyé ira à la boutique, et vous devrez lui en demander le retour.',
  cancelConfirm: 'Oui, annuler',
  restartQuestion: 'Changer de crypto\u00a0?',
  restartConfirm: 'Oui, choisir à nouveau',
  againQuestion: 'Payer de nouveau le prix entier\u00a0?',
  againWarning: 'La boutique a déjà {seen}. Un nouveau paiement demande encore le prix entier.',
  keepPaying: 'Non, garder ce paiement',

  copied: 'Copié.',
  wrongAsset:
    '{amount} sur {network} sont arrivés, mais ce paiement attend {currency} sur {asked}. La boutique les a reçus\u00a0: demandez-lui leur retour.',

  transferCheck: 'Vérifier mon transfert',
  phone: 'Payer sur votre téléphone',
  phoneHelp: 'Avec la caméra, pas un portefeuille. Cette page suit.',

  confirmingHeading: 'Paiement détecté',
  confirmingStatus: ({ confirmations: count }) =>
    `{seen} détectés\u00a0: {confirmations} ${plural('fr', count, confirmations)} sur {required}. Vous pouvez fermer cette page\u00a0; la boutique est prévenue.`,
  confirmingTime: 'Encore environ {minutes} min',
  transaction: 'Transaction',

  successHeading: 'Paiement terminé',
  successStatus: 'La boutique a reçu {amount}. Merci.',
  successOver:
    'Vous avez envoyé {seen} au lieu de {amount}. La boutique a l’excédent\u00a0: demandez-lui son retour.',
  successLate: 'Votre paiement est arrivé après le délai, et la boutique l’a accepté.',
  paidTitle: '✓ Payé',
  backToShop: 'Continuer vers {host}',
  redirectSoon: 'Vous retournez sur {host} dans {seconds} s.',
  redirecting: 'Retour à la boutique dans {seconds} s.',
  stay: 'Rester ici',
  receipt: 'Reçu',
  shop: 'Boutique',
  orderName: 'Commande',
  paid: 'Payé',
  rateName: 'Cours',
  time: 'Heure',
  paymentId: 'Identifiant du paiement',
  details: 'Détails',
  excess: 'Excédent',
  notCounted: 'non compté',
  save: 'Enregistrer',

  errorHeading: 'Paiement non accepté',
  errorStatus:
    'Le paiement n’a pas pu aboutir. Demandez à la boutique ce que devient ce que vous avez envoyé.',
  invalidStatus: 'La boutique a reçu {amount} au lieu de {currency}. Demandez-lui le retour.',
  reversedHeading: 'Paiement annulé par le réseau',
  reversedStatus:
    'Le réseau a repris votre paiement alors qu’il était terminé. Demandez à votre portefeuille ou plateforme ce qui s’est passé.',
  reversedPending:
    'Le réseau a repris votre paiement alors qu’il était terminé. Il peut encore arriver\u00a0: n’envoyez pas une seconde fois.',
  timeUpPart: '{seen} sur {amount} détectés à temps. Cela compte.',
  lateSeen:
    '{seen} détectés. C’est arrivé après le délai\u00a0; la boutique décide une fois la confirmation obtenue.',
  expiredStatus: 'Rien n’est arrivé à temps. Rien n’a été débité. N’envoyez rien à l’ancienne adresse.',
  expiredPartial:
    '{seen} sur {amount} sont arrivés à temps. La boutique les a\u00a0: demandez leur retour, ou comment payer le reste.',
  expiredLate:
    '{seen} sont arrivés trop tard et ne couvrent pas le prix. La boutique les a\u00a0: demandez-lui la suite.',
  cancelledHeading: 'Paiement annulé',
  cancelledStatus: 'N’envoyez rien à l’ancienne adresse.',
  endedUnlocked: 'Rien n’a été envoyé, et rien n’est dû.',
  cancelledPaid:
    '{seen} sont arrivés, mais le paiement est annulé. La boutique les a\u00a0: demandez-lui la suite.',
  contactShop: 'Contacter la boutique',
  copyId: 'Copier l’identifiant du paiement',
  copyMessage: 'Copier un message pour la boutique',
  newPayment: 'Commencer un nouveau paiement',

  log: 'Activité',
  copyLog: 'Copier en texte',
  log_payment_started: 'Paiement commencé',
  log_currency_set: '{currency} sur {network} choisi',
  log_currency_locked: 'Prix fixé\u00a0: {amount} sur {network}',
  log_currency_already_locked: 'Le prix était déjà fixé',
  log_transfer_seen: 'Détecté\u00a0: {amount}',
  log_other_transfer_seen: 'Détecté, mais différent de ce qui était demandé\u00a0: {amount} sur {network}',
  log_transfer_seen_again: 'Détecté à nouveau\u00a0: {amount}',
  log_transfer_confirmed: 'Confirmé\u00a0: {amount}',
  log_transfer_unconfirmed: 'N’est plus confirmé\u00a0: {amount}',
  log_transfer_dropped: 'Abandonné par le réseau\u00a0: {amount}',
  log_underpaid: '{seen} sur {amount} détectés',
  log_confirming: ({ confirmations: count }) =>
    `Montant complet détecté, en attente de {confirmations} ${plural('fr', count, confirmations)}`,
  log_completed: 'Payé\u00a0: {received}',
  log_completed_over: 'Payé\u00a0: {received}, soit {excess} de trop',
  log_completed_late: 'Payé en retard, et accepté\u00a0: {received}',
  log_overpaid: '{excess} de trop sont arrivés',
  log_excess_lost: 'L’excédent a quitté le réseau\u00a0: il reste {received}',
  log_expired: 'Temps écoulé\u00a0: rien n’est arrivé',
  log_expired_partial: 'Temps écoulé\u00a0: {received} sur {amount} sont arrivés',
  log_expired_late: 'Trop tard\u00a0: {received} sur {amount} sont arrivés',
  log_expired_invalid: 'Temps écoulé\u00a0: mauvaise crypto ou mauvais réseau',
  log_reversed: 'Le réseau a repris un paiement confirmé',
  log_cancelled: 'Annulé',
  log_cancelled_with_funds: 'Annulé après l’arrivée de fonds',
  log_paid_after_cancel: 'Des fonds sont arrivés après l’annulation',
  log_deposit_completed: 'Reçu\u00a0: {received}',
  log_refund_created: 'Remboursement commencé\u00a0: {amount}. La boutique vous envoie le lien.',
  log_refund_sending: 'Remboursement en cours d’envoi\u00a0: {amount}',
  log_refund_paid: 'Remboursé\u00a0: {amount}',
  log_refund_ended: 'Remboursement terminé\u00a0: {amount} reste à la boutique',
  refundFeeKept: 'Frais de service gardés\u00a0: {amount}',

  problemBusy: 'Le service de paiement est occupé. Réessayez dans un instant.',
  problemBelowMinimum: 'Le total est trop petit pour cette crypto. Choisissez-en une autre.',
  problemUnsupported: 'Cette crypto n’est pas utilisable pour le moment. Choisissez-en une autre.',
  problemNotFound: 'Ce paiement est introuvable. Demandez un nouveau lien à la boutique.',
  problemState: 'Cette étape n’est plus possible. Voici où en est le paiement.',
  problemReply: 'Le service de paiement a donné une réponse inattendue. Réessayez, ou contactez la boutique.',

  payFromWallet: 'Payer avec {wallet}',
  browserWallet: 'le portefeuille du navigateur',
  walletConnecting: 'Connectez un compte dans {wallet}…',
  walletSwitching: 'Passez sur {network} dans {wallet}…',
  walletConfirming: 'Confirmez {amount} dans {wallet}…',
  walletStop: 'Ne plus attendre',
  walletSent: 'Envoyé depuis votre portefeuille, en attente du réseau. N’envoyez pas une seconde fois.',
  walletUnsure: 'Votre portefeuille a reçu la demande. Vérifiez-y s’il a payé.',
  walletTransaction: 'Transaction {hash}',
  walletLog: 'Envoyé depuis un portefeuille\u00a0: {hash}. En attente du réseau.',
  walletAgain: 'Payer à nouveau depuis un portefeuille',
  walletAgainQuestion:
    'Votre portefeuille a peut-être déjà envoyé. Si vous envoyez encore, vous risquez de payer deux fois.',
  walletAgainYes: 'Envoyer encore',
  walletAgainNo: 'Ne pas envoyer',
  walletRejected: 'Vous avez refusé dans {wallet}. Rien n’a été envoyé.',
  walletPending: 'Une demande attend déjà votre réponse dans {wallet}. Ouvrez-le pour continuer.',
  walletFunds: 'Ce compte n’a pas assez de {currency}. Rien n’a été envoyé.',
  walletFee: 'Ce compte n’a pas assez de {coin} pour les frais de réseau. Rien n’a été envoyé.',
  walletAccount:
    'Le compte a changé dans {wallet}. Rien n’a été envoyé. Appuyez encore pour utiliser le nouveau.',
  walletChain:
    '{wallet} n’est pas sur {network}. Rien n’a été envoyé. Changez-y de réseau, puis appuyez encore.',
  walletUnknownChain: '{wallet} ne connaît pas {network}. Ajoutez-le, ou copiez le montant et l’adresse.',
  walletChanged: 'Le montant a changé. Rien n’a été envoyé. Vérifiez-le, puis appuyez encore.',
  walletAddressChanged: 'L’adresse a changé. Rien n’a été envoyé. Vérifiez-la, puis appuyez encore.',
  walletEnded: 'Ce paiement ne peut plus être payé. Rien n’a été envoyé.',
  walletFailed:
    '{wallet} a donné une réponse inattendue. Rien n’a été envoyé. Copiez le montant et l’adresse.',
  walletApp: 'Ouvrir dans {wallet}',
};
