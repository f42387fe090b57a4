/** The check of a transfer, in Spanish. No native reader has checked them yet. */
import type { TransferMessages } from '../en.js';

export const texts: TransferMessages = {
  transferField: 'Hash de la transacción o enlace de un explorador',
  transferAsk: 'Comprobar',
  transferNoHash:
    'Ahí no hay ningún hash: 64 cifras y letras de la a a la f, en el historial de tu monedero o plataforma.',
  transferSecret:
    'Eso parece una clave privada o las palabras de un monedero. No se ha enviado. Quien la conozca puede gastarlo todo: pasa las monedas a un monedero nuevo.',
  transferPaid: 'Ha pagado este pago: {amount} en {network}. Confirmaciones: {confirmations} de {required}.',
  transferOtherCoin:
    'Llevó {amount} en {network} a la tienda, pero este pago espera {currency} en {asked}. Pregunta a la tienda.',
  transferOtherAddress:
    'Está en {network}, pero no pagó nada a esta dirección. Compara la dirección en tu monedero o plataforma.',
  transferFailed: 'Falló en {network}: no se envió nada.',
  transferUnknown:
    '{network} aún no la conoce. Compruébalo en unos minutos. Si enviaste por otra red, pregunta a la tienda.',
  transferWait: 'Has comprobado muchas veces. Vuelve a hacerlo en {seconds} s; el pago sigue vigilado.',
};
