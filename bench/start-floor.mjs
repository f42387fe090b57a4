/** Starts the floor in its own process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * @param {import('./floor.mjs').FloorTask} task
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>} resolves when it listens
 */
export async function startFloor(task) {
  const child = fork(fileURLToPath(new URL('floor.mjs', import.meta.url)), {
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const exited = once(child, 'exit');
  child.send(task);
  const [message] = await Promise.race([
    once(child, 'message'),
    exited.then(([code]) => {
      throw new Error(`The floor exited with code ${code}`);
    }),
  ]);
  return {
    url: `http://127.0.0.1:${message.port}`,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
