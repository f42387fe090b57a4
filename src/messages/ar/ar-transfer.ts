/** The check of a transfer, in Arabic. No native reader has checked them yet. */
import type { TransferMessages } from '../en.js';

export const texts: TransferMessages = {
  transferField: 'معرّف المعاملة أو رابط من مستكشف',
  transferAsk: 'تحقق',
  transferNoHash: 'لا يوجد معرّف معاملة هنا: 64 رقمًا وحرفًا من a إلى f، تجده في سجل محفظتك أو منصتك.',
  transferSecret:
    'يبدو هذا مفتاحًا خاصًا أو كلمات محفظة، ولم يُرسل. من يعرفه يستطيع إنفاق كل ما فيها: انقل عملاتك إلى محفظة جديدة.',
  transferPaid:
    'دفعت هذه المعاملة لهذا الدفع: {amount} على {network}. التأكيدات: {confirmations} من {required}.',
  transferOtherCoin:
    'أوصلت {amount} على {network} إلى المتجر، لكن هذا الدفع يطلب {currency} على {asked}. اسأل المتجر عنها.',
  transferOtherAddress:
    'هي على {network}، لكنها لم تدفع شيئًا إلى هذا العنوان. قارن العنوان في محفظتك أو منصتك.',
  transferFailed: 'فشلت على {network}: لم يُرسل شيء.',
  transferUnknown: 'لا تعرفها {network} بعد. تحقق مجددًا بعد دقائق. إذا أرسلت على شبكة أخرى فاسأل المتجر.',
  transferWait: 'تحققت كثيرًا. أعد المحاولة بعد {seconds} ث؛ الدفع تحت المراقبة في هذه الأثناء.',
};
