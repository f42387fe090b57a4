/** What comes after the QR code, in Spanish. No native reader has checked them yet. */
import type { LaterMessages } from './en.js';
import { plural } from './plural.js';

const confirmations = { one: 'confirmación', other: 'confirmaciones' };

export const texts: LaterMessages = {
  cancelQuestion: '¿Cancelar este pago?',
  cancelWarning: 'Lo que ya hayas enviado llegará a la tienda, y tendrás que pedirle que te lo devuelva.',
  cancelConfirm: 'Sí, cancelar',
  restartQuestion: '¿Usar otra moneda?',
  restartConfirm: 'Sí, elegir de nuevo',
  keepPaying: 'No, seguir con este pago',

  copied: 'Copiado.',
  wrongAsset:
    'Llegaron {amount} en {network}, pero este pago espera {currency} en {asked}. Los tiene la tienda: pídele que te los devuelva.',

  exchange: 'Pago desde un exchange',
  exchangeNote: 'Los exchanges descuentan su comisión de lo que escribes. Esto debe llegar completo:',
  exchangeAmount: 'Importe que debe llegar',
  exchangeFee: '«Recibes» debe mostrar {amount}. Si muestra menos, suma la diferencia.',

  confirmingHeading: 'Pago detectado',
  confirmingStatus: ({ required }) =>
    `{seen} detectados: {confirmations} de {required} ${plural('es', required, confirmations)}. Puedes cerrar esta página; se avisa a la tienda.`,
  confirmingTime: 'Faltan unos {minutes} min',
  transaction: 'Transacción',

  successHeading: 'Pago completado',
  successStatus: 'La tienda ha recibido {amount}. Gracias.',
  successOver: 'Enviaste {seen} y eran {amount}. La tienda tiene el excedente: pídele que te lo devuelva.',
  successLate: 'Tu pago llegó fuera de plazo, y la tienda lo ha aceptado.',
  paidTitle: '✓ Pagado',
  backToShop: 'Continuar a {host}',
  redirectSoon: 'Vuelves a {host} en {seconds} s.',
  redirecting: 'De vuelta a la tienda en {seconds} s.',
  stay: 'Quedarme aquí',
  receipt: 'Recibo',
  shop: 'Tienda',
  orderName: 'Pedido',
  paid: 'Pagado',
  rateName: 'Cambio',
  time: 'Hora',
  paymentId: 'ID del pago',
  print: 'Imprimir recibo',
  save: 'Guardar recibo',

  errorHeading: 'Pago no aceptado',
  errorStatus: 'No se pudo completar el pago. Pregunta a la tienda qué pasa con lo que hayas enviado.',
  invalidStatus: 'La tienda recibió {amount} en lugar de {currency}. Pídele que te lo devuelva.',
  reversedHeading: 'Pago revertido',
  reversedStatus:
    'La red deshizo tu pago después de completarse. Pregunta a tu billetera o exchange qué ocurrió.',
  expiredHeading: 'Se acabó el tiempo',
  expiredStatus: 'No llegó nada a tiempo. No se cobró nada. No envíes nada a la dirección anterior.',
  expiredUnknown: 'El plazo para pagar terminó. No envíes nada a la dirección anterior.',
  expiredPartial:
    'Llegaron a tiempo {seen} de {amount}. Los tiene la tienda: pide que te los devuelva, o cómo pagar el resto.',
  expiredLate:
    '{seen} llegaron demasiado tarde y no cubren el precio. Los tiene la tienda: pregúntale qué sigue.',
  cancelledHeading: 'Pago cancelado',
  cancelledStatus: 'Lo cancelaste tú. No envíes nada a la dirección anterior.',
  endedUnlocked: 'No se envió nada, y no se debe nada.',
  cancelledPaid:
    'Tus {seen} llegaron después de la cancelación. Los tiene la tienda: pídele que te los devuelva.',
  contactShop: 'Contactar con la tienda',
  copyId: 'Copiar ID del pago',
  newPayment: 'Iniciar un pago nuevo',

  log: 'Registro',
  copyLog: 'Copiar como texto',
  log_payment_started: 'Pago iniciado',
  log_currency_set: '{currency} en {network} elegido',
  log_currency_locked: 'Precio fijado: {amount} en {network}',
  log_currency_already_locked: 'El precio ya estaba fijado',
  log_transfer_seen: 'Detectado: {amount}',
  log_other_transfer_seen: 'Detectado, pero no es lo que se pidió: {amount} en {network}',
  log_transfer_seen_again: 'Detectado de nuevo: {amount}',
  log_transfer_confirmed: 'Confirmado: {amount}',
  log_transfer_unconfirmed: 'Ya no está confirmado: {amount}',
  log_transfer_dropped: 'Descartado por la red: {amount}',
  log_underpaid: '{seen} de {amount} detectados',
  log_confirming: ({ confirmations: count }) =>
    `Importe completo detectado, a la espera de {confirmations} ${plural('es', count, confirmations)}`,
  log_completed: 'Pagado: {received}',
  log_completed_over: 'Pagado: {received}, {excess} de más',
  log_completed_late: 'Pagado tarde, y aceptado: {received}',
  log_overpaid: 'Llegaron {excess} de más',
  log_excess_lost: 'El excedente salió de la red: quedan {received}',
  log_expired: 'Se acabó el tiempo: no llegó nada',
  log_expired_partial: 'Se acabó el tiempo: llegaron {received} de {amount}',
  log_expired_late: 'Demasiado tarde: llegaron {received} de {amount}',
  log_expired_invalid: 'Se acabó el tiempo: se usó otra moneda u otra red',
  log_reversed: 'La red deshizo un pago confirmado',
  log_cancelled: 'Cancelado',
  log_cancelled_with_funds: 'Cancelado después de llegar fondos',
  log_paid_after_cancel: 'Llegaron fondos después de la cancelación',
  log_deposit_completed: 'Recibido: {received}',

  problemBusy: 'El servicio de pago está ocupado. Inténtalo en un momento.',
  problemBelowMinimum: 'El total es demasiado pequeño para esta moneda. Elige otra.',
  problemUnsupported: 'Esta moneda no se puede usar ahora. Elige otra.',
  problemNotFound: 'No se encontró este pago. Pide un enlace nuevo a la tienda.',
  problemState: 'Este paso ya no es posible. Así está el pago.',
  problemReply:
    'El servicio de pago dio una respuesta inesperada. Inténtalo de nuevo, o pregunta a la tienda.',
};
