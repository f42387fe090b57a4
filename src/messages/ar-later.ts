/** What comes after the QR code, in Arabic. No native reader has checked them yet. */
import type { LaterMessages } from './en.js';
import { plural } from './plural.js';

const confirmations = {
  one: 'تأكيد واحد',
  two: 'تأكيدين',
  few: '# تأكيدات',
  many: '# تأكيدًا',
  other: '# تأكيد',
};
const minutes = { one: 'دقيقة واحدة', two: 'دقيقتين', few: '# دقائق', other: '# دقيقة' };
const seconds = { one: 'ثانية واحدة', two: 'ثانيتين', few: '# ثوانٍ', other: '# ثانية' };

export const texts: LaterMessages = {
  cancelQuestion: 'هل تريد إلغاء هذه الدفعة؟',
  cancelWarning: 'العملات التي أرسلتها تصل إلى المتجر، وعليك أن تطلب منه إعادتها.',
  cancelConfirm: 'نعم، ألغِ',
  restartQuestion: 'هل تريد استخدام عملة أخرى؟',
  restartConfirm: 'نعم، اختر من جديد',
  keepPaying: 'لا، أبقِ هذه الدفعة',

  copied: 'نُسخ.',
  wrongAsset:
    'وصل {amount} على {network}، لكن هذه الدفعة تقبل {currency} على {asked}. المبلغ لدى المتجر: اطلب إعادته.',

  exchange: 'أدفع من منصة تداول',
  exchangeNote: 'تخصم المنصات رسومها مما تُدخله. يجب أن يصل هذا كاملًا:',
  exchangeAmount: 'المبلغ الذي يجب أن يصل',
  exchangeFee: 'يجب أن تعرض خانة «ستستلم» {amount}. إذا عرضت أقل فأضف الفرق.',

  confirmingHeading: 'رُصدت الدفعة',
  confirmingStatus: ({ required }) =>
    `رُصد {seen}: {confirmations} من أصل ${plural('ar', required, confirmations)}. يمكنك إغلاق هذه الصفحة، وسيُبلَّغ المتجر.`,
  confirmingTime: ({ minutes: count }) => `بقي نحو ${plural('ar', count, minutes)}`,
  transaction: 'المعاملة',

  successHeading: 'اكتمل الدفع',
  successStatus: 'استلم المتجر {amount}. شكرًا لك.',
  successOver: 'أرسلت {seen}، وكان المطلوب {amount}. الزيادة لدى المتجر: اطلب إعادتها.',
  successLate: 'وصلت دفعتك بعد انتهاء المهلة، وقبلها المتجر.',
  paidTitle: '✓ مدفوع',
  backToShop: 'المتابعة إلى {host}',
  redirectSoon: ({ seconds: count }) => `ستعود إلى {host} خلال ${plural('ar', count, seconds)}.`,
  redirecting: ({ seconds: count }) => `العودة إلى المتجر خلال ${plural('ar', count, seconds)}.`,
  stay: 'البقاء هنا',
  receipt: 'الإيصال',
  shop: 'المتجر',
  orderName: 'الطلب',
  paid: 'المدفوع',
  rateName: 'سعر الصرف',
  time: 'الوقت',
  paymentId: 'معرّف الدفعة',
  print: 'طباعة الإيصال',
  save: 'حفظ الإيصال',

  errorHeading: 'لم تُقبل الدفعة',
  errorStatus: 'تعذّر إكمال الدفع. اسأل المتجر عن مصير ما أرسلته.',
  invalidStatus: 'استلم المتجر {amount} بدلًا من {currency}. اطلب إعادته.',
  reversedHeading: 'أُلغيت الدفعة من الشبكة',
  reversedStatus: 'سحبت الشبكة دفعتك بعد اكتمالها. اسأل محفظتك أو منصتك عمّا حدث.',
  expiredHeading: 'انتهى الوقت',
  expiredStatus: 'لم يصل شيء في الوقت المحدد. لم يُخصم شيء. لا ترسل إلى العنوان القديم.',
  expiredUnknown: 'انتهت مهلة الدفع. لا ترسل إلى العنوان القديم.',
  expiredPartial:
    'وصل {seen} من {amount} في الوقت المحدد. المبلغ لدى المتجر: اطلب إعادته، أو اسأل كيف تدفع الباقي.',
  expiredLate: 'وصل {seen} متأخرًا ولا يغطي السعر. المبلغ لدى المتجر: اسأله عن الخطوة التالية.',
  cancelledHeading: 'أُلغيت الدفعة',
  cancelledStatus: 'أنت ألغيتها. لا ترسل إلى العنوان القديم.',
  endedUnlocked: 'لم يُرسل شيء، ولا شيء مستحق عليك.',
  cancelledPaid: 'وصل {seen} منك بعد الإلغاء. المبلغ لدى المتجر: اطلب إعادته.',
  contactShop: 'تواصل مع المتجر',
  copyId: 'نسخ معرّف الدفعة',
  newPayment: 'بدء دفعة جديدة',

  log: 'سجل الوقت',
  copyLog: 'نسخ كنص',
  log_payment_started: 'بدأ الدفع',
  log_currency_set: 'اختير {currency} على {network}',
  log_currency_locked: 'ثُبّت السعر: {amount} على {network}',
  log_currency_already_locked: 'كان السعر مثبتًا من قبل',
  log_transfer_seen: 'رُصد: {amount}',
  log_other_transfer_seen: 'رُصد، لكنه غير المطلوب: {amount} على {network}',
  log_transfer_seen_again: 'رُصد مرة أخرى: {amount}',
  log_transfer_confirmed: 'تأكد: {amount}',
  log_transfer_unconfirmed: 'لم يعد مؤكدًا: {amount}',
  log_transfer_dropped: 'أسقطته الشبكة: {amount}',
  log_underpaid: 'رُصد {seen} من {amount}',
  log_confirming: ({ confirmations: count }) =>
    `رُصد المبلغ كاملًا، بانتظار ${plural('ar', count, confirmations)}`,
  log_completed: 'دُفع: {received}',
  log_completed_over: 'دُفع: {received}، بزيادة {excess}',
  log_completed_late: 'دُفع متأخرًا وقُبل: {received}',
  log_overpaid: 'وصلت زيادة قدرها {excess}',
  log_excess_lost: 'اختفت الزيادة من الشبكة: بقي {received}',
  log_expired: 'انتهى الوقت: لم يصل شيء',
  log_expired_partial: 'انتهى الوقت: وصل {received} من {amount}',
  log_expired_late: 'متأخر: وصل {received} من {amount}',
  log_expired_invalid: 'انتهى الوقت: استُخدمت عملة أو شبكة خاطئة',
  log_reversed: 'سحبت الشبكة دفعة مؤكدة',
  log_cancelled: 'أُلغيت',
  log_cancelled_with_funds: 'أُلغيت بعد وصول عملات',
  log_paid_after_cancel: 'وصلت عملات بعد الإلغاء',
  log_deposit_completed: 'استُلم: {received}',

  problemBusy: 'خدمة الدفع مشغولة. حاول بعد لحظات.',
  problemBelowMinimum: 'الإجمالي أصغر من الحد الأدنى لهذه العملة. اختر غيرها.',
  problemUnsupported: 'لا يمكن استخدام هذه العملة الآن. اختر غيرها.',
  problemNotFound: 'لم يُعثر على هذه الدفعة. اطلب من المتجر رابطًا جديدًا.',
  problemState: 'لم تعد هذه الخطوة ممكنة. هذه حالة الدفعة الآن.',
  problemReply: 'أرسلت خدمة الدفع ردًا غير متوقع. حاول مرة أخرى، أو اسأل المتجر.',
};
