# The app in a container: an ordinary user, a root file system that may be read-only, one volume for what it writes.
#
#   docker build -t rff .
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
#       -p 127.0.0.1:8501:8501 -v rff-data:/data rff
#
# The base is pinned by version. Its digest belongs behind the tag (FROM ...@sha256:...); it was written without access
# to a registry of images, so whoever builds should add it: docker buildx imagetools inspect python:3.11.14-slim-bookworm

FROM python:3.11.14-slim-bookworm AS build
COPY requirements.lock /build/
# Wheels alone, each with the hash that the lock names: nothing is compiled, and no compiler is in either stage.
# The environment has no pip, so neither has the image's app.
RUN python -m venv --without-pip /opt/venv \
    && python -m pip --python /opt/venv/bin/python --disable-pip-version-check install --no-cache-dir \
        --only-binary :all: --require-hashes -r /build/requirements.lock

FROM python:3.11.14-slim-bookworm
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin rff \
    && install -d -o rff -g rff -m 0750 /data
COPY --from=build /opt/venv /opt/venv
WORKDIR /app
# What .dockerignore lets through: the app, the engine, the bundled data. All of it is root's, so nobody can change it.
COPY . .
RUN ["/opt/venv/bin/python", "-m", "compileall", "-q", "/app"]

# Everything that is written goes below /data: results, downloads, and whatever a library keeps in its user's home.
# Temporary files go to /tmp where that is writable (a tmpfs), else there as well: Python asks TMPDIR, then TEMP.
# Every rerun has a thread of its own, and by itself glibc has up to eight heaps a core for them, whose free pieces it
# keeps; `python -m benchmarks.load` measures it.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/data \
    XDG_CACHE_HOME=/data/cache \
    XDG_CONFIG_HOME=/data/config \
    RFF_STORE=sqlite:////data/results.sqlite \
    TMPDIR=/tmp \
    TEMP=/data \
    SQLITE_TMPDIR=/data \
    MALLOC_ARENA_MAX=2

USER rff
VOLUME /data
EXPOSE 8501
# Python, for the image has no curl; http.client, for it asks no proxy that the environment may name.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import http.client as http, sys; there = http.HTTPConnection('127.0.0.1', 8501, timeout=4); there.request('GET', '/_stcore/health'); sys.exit(there.getresponse().status != 200)"]
CMD ["python", "-m", "streamlit", "run", "serve.py", "--server.address=0.0.0.0", "--server.port=8501"]
