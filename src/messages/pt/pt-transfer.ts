/** The check of a transfer, in Portuguese. No native reader has checked them yet. */
import type { TransferMessages } from '../en.js';

export const texts: TransferMessages = {
  transferField: 'Hash da transação ou link de um explorador',
  transferAsk: 'Verificar',
  transferNoHash:
    'Aí não há nenhum hash: 64 algarismos e letras de a a f, no histórico da sua carteira ou corretora.',
  transferSecret:
    'Isso parece uma chave privada ou as palavras de uma carteira. Não foi enviado. Quem a conhece pode gastar tudo: passe as moedas para uma carteira nova.',
  transferPaid:
    'Ela pagou este pagamento: {amount} em {network}. Confirmações: {confirmations} de {required}.',
  transferOtherCoin:
    'Ela levou {amount} em {network} à loja, mas este pagamento espera {currency} em {asked}. Fale com a loja.',
  transferOtherAddress:
    'Ela está em {network}, mas não pagou nada a este endereço. Compare o endereço na sua carteira ou corretora.',
  transferFailed: 'Ela falhou em {network}: nada foi enviado.',
  transferUnknown:
    '{network} ainda não a conhece. Verifique de novo em alguns minutos. Se enviou por outra rede, fale com a loja.',
  transferWait: 'Você verificou muitas vezes. Tente de novo em {seconds} s; o pagamento continua observado.',
};
