# Caldera with the Playwright MCP server and its Chromium, for `caldera rpc`. docs/docker.md explains it.

FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build && npm pack --ignore-scripts --pack-destination /tmp

FROM node:22-bookworm-slim
# The version the preset pins (src/shared/playwright-preset.ts); a test compares them.
ARG PLAYWRIGHT_MCP_VERSION=0.0.83
ENV PLAYWRIGHT_BROWSERS_PATH=/opt/ms-playwright

# Chromium comes from the playwright that this very package depends on: another one looks for another build.
RUN npm install --global --no-audit --no-fund "@playwright/mcp@${PLAYWRIGHT_MCP_VERSION}" \
  && cd "$(npm root --global)/@playwright/mcp" \
  && node "$(dirname "$(node -p "require.resolve('playwright/package.json')")")/cli.js" install --with-deps chromium \
  && chmod -R a+rX "$PLAYWRIGHT_BROWSERS_PATH" \
  && npm cache clean --force \
  && rm -rf /var/lib/apt/lists/*

COPY --from=build /tmp/caldera-*.tgz /tmp/
RUN npm install --global --no-audit --no-fund --ignore-scripts /tmp/caldera-*.tgz \
  && npm cache clean --force \
  && rm /tmp/caldera-*.tgz \
  && mkdir -p /data/agent /data/workspaces \
  && chown -R node:node /data

ENV CALDERA_AGENT_DIR=/data/agent
VOLUME /data
WORKDIR /data/workspaces
USER node
ENTRYPOINT ["caldera"]
CMD ["rpc"]
