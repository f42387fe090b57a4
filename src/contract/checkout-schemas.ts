/** The shapes of checkout.ts as zod schemas, which servers and the documentation build on. */
import * as shapes from './checkout.js';
import { schemaOf } from './schema-of.js';
import * as transfer from './transfer-check.js';

export const paymentStatus = schemaOf(shapes.paymentStatus);
export const paymentState = schemaOf(shapes.paymentState);
export const logValues = schemaOf(shapes.logValues);
export const logEntry = schemaOf(shapes.logEntry);
export const receiptView = schemaOf(shapes.receiptView);
export const unlistedReceipts = schemaOf(shapes.unlistedReceipts);
export const currencyOption = schemaOf(shapes.currencyOption);
export const branding = schemaOf(shapes.branding);
export const evmAsset = schemaOf(shapes.evmAsset);
export const payment = schemaOf(shapes.payment);
export const createdPayment = schemaOf(shapes.createdPayment);
export const transferCheck = schemaOf(transfer.transferCheck);
