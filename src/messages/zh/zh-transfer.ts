/** The check of a transfer, in Chinese. No native reader has checked them yet. */
import type { TransferMessages } from '../en.js';

export const texts: TransferMessages = {
  transferField: '交易哈希或区块浏览器链接',
  transferAsk: '查询',
  transferNoHash: '其中没有交易哈希：它由 64 个数字和 a 到 f 的字母组成，见于钱包或交易所的历史记录。',
  transferSecret: '这看起来像是私钥或钱包助记词，未被发送。知道它的人可以花掉全部资产：请把币转到新钱包。',
  transferPaid: '它支付了此笔付款：{network} 上的 {amount}。确认数：{confirmations}/{required}。',
  transferOtherCoin:
    '它在 {network} 上给商店转入了 {amount}，但此笔付款要求 {asked} 上的 {currency}。请联系商店。',
  transferOtherAddress: '它在 {network} 上，但没有向此地址付款。请与钱包或交易所中的地址比对。',
  transferFailed: '它在 {network} 上失败了：没有转出任何金额。',
  transferUnknown: '{network} 还查不到它。请几分钟后再查。如果您用了其他网络，请联系商店。',
  transferWait: '您查询得太频繁。请在 {seconds} 秒后再查；付款仍在监测中。',
};
