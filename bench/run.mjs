/** `npm run bench`: runs one of the benchmarks, each of which prints ratios that are measured in one run. */
const benchmarks = ['payments', 'lists'];
const [, , name = ''] = process.argv;

if (benchmarks.includes(name)) {
  await import(`./${name}.mjs`);
} else {
  console.log(`Usage: npm run bench -- NAME [options]        (after npm run build)

  payments   creating, setting, locking and verifying payments, against floors on the same machine
  lists      each list and filter at 1,000,000 payments, against 10,000

  npm run bench -- NAME --help says more.`);
  process.exitCode = name === '' || name === '--help' ? 0 : 1;
}
