# Runoff with its sandbox, as an unprivileged user. docs/deployment.md says what was tested and what was not: run
# `docker compose run --rm runoff doctor` before you rely on it.
#
#   docker build .                                             the built-in coder and those that need no program
#   docker build --build-arg AGENTS="claude-code codex" .      with agents; `runoff agents` lists their names
#   docker build --build-arg COMMIT=$(git rev-parse HEAD) .    `runoff --version` then says it
#
# Debian 12 by name: newer images carry a `mount` whose system calls deploy/seccomp-bwrap.json does not allow.
# By digest, since a tag can be moved; deploy/pin-images looks up the newest one for --build-arg NODE_IMAGE. Debian packages
# are the newest at build time.
ARG NODE_IMAGE=node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages packages
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
# bubblewrap, util-linux: the sandbox. git: clones and pushes. ca-certificates: https of git and of Node.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates git util-linux \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY . .
ARG COMMIT=""
RUN if [ -n "$COMMIT" ]; then printf '{"commit":"%s"}\n' "$COMMIT" > build-info.json; fi
# `node` (uid 1000) comes with the image. It owns the data folder and nothing else: the code belongs to root.
RUN install -d -o node -g node -m 0700 /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 RUNOFF_DATA=/data RUNOFF_AGENTS=/opt/agents MALLOC_ARENA_MAX=2
# Agents belong to root: neither a candidate nor Runoff itself can change what the next run starts. An image based on this
# one can install more in the same way, as `USER root`.
ARG AGENTS=""
RUN install -d -m 0755 /opt/agents \
  && if [ -n "$AGENTS" ]; then \
    RUNOFF_DATA=/tmp/install /app/node_modules/.bin/node -- /app/src/main.ts agents install $AGENTS \
    && rm -rf /tmp/install /root/.npm && chmod -R a+rX,go-w /opt/agents; \
  fi
USER node
# Runoff reads `.env` from the data folder, and the set-up pages write it there.
WORKDIR /data
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=6s --start-period=30s --retries=3 \
  CMD ["/app/node_modules/.bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node directly, because npm would not pass SIGTERM on.
ENTRYPOINT ["/app/node_modules/.bin/node", "--import=/app/bin/strip-types.mjs", "--max-semi-space-size=2", "--heap-growing-percent=50", "--", "/app/src/main.ts"]
CMD ["serve"]
