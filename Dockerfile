# One image for web server and workers. compose.yaml runs them with PostgreSQL, Redis and Caddy (docs/operate/deploy.md).
# Alone, with everything in one container: docker run --init -p 127.0.0.1:8000:8000 -v comparena:/data comparena
ARG BASE=debian:bookworm-slim
FROM ${BASE}

# PostgreSQL's client for `manage.py backup`, WordNet for METEOR. Debian replaces a version by the next one with its security
# fixes, so none is pinned.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates postgresql-client python3 python3-venv wordnet-base \
    && rm -rf /var/lib/apt/lists/*

# Before the code, so that a change of code downloads nothing again.
COPY requirements-cpu.lock /tmp/
RUN python3 -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --require-hashes -r /tmp/requirements-cpu.lock

WORKDIR /app
COPY . .
RUN /opt/venv/bin/python -m compileall -q . \
    && useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin comparena \
    && install -d -m 700 -o comparena /data

ENV PATH=/opt/venv/bin:$PATH DATA_DIR=/data HOME=/data PYTHONUNBUFFERED=1
USER 10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=120s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["python", "manage.py", "serve", "--host=0.0.0.0", "--port=8000"]
