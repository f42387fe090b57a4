/** Lets every test in Node fail that uses the outer database handle inside a transaction. */
import { guardTransactions } from '../src/core/db/transaction-context.js';

guardTransactions();
