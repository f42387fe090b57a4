# The server with everything it serves, as one image. docs/deployment.md says how it is run.

# Debian, since the runtime below is of the same one: the database driver's native part is built, or fetched, for it.
FROM node:24.21-bookworm AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY server/package.json server/
RUN npm ci --omit=dev && mkdir -p server/node_modules

FROM packages AS build
RUN npm ci
COPY . .
# The types of a release were checked before it.
RUN npm run build -- --no-check

FROM node:24.21-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATABASE_URL=sqlite:/data/checkout.db
WORKDIR /app
COPY package.json LICENSE ./
COPY server/package.json server/
COPY --from=packages /app/node_modules node_modules
COPY --from=packages /app/server/node_modules server/node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/server/dist server/dist
COPY server/data server/data
COPY docs docs
RUN install -d -m 700 -o node -g node /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# One heap of the C library for all threads, instead of one for each, takes 15 MB less.
ENV MALLOC_ARENA_MAX=1
# Less space for young objects than by default takes 15 MB less, and a payment takes as much processor time.
CMD ["node", "--max-semi-space-size=4", "server/dist/main.js"]
