# The app in a container: an unprivileged user, a root file system that may be read-only, one volume for all it writes.
#
#   docker build -t rff .
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
#       -p 127.0.0.1:8501:8501 -v rff-data:/data rff
#
# The base is pinned by version. To pin its digest as well, append it to the tag (FROM ...@sha256:...):
#   docker buildx imagetools inspect python:3.11.14-slim-bookworm

FROM python:3.11.14-slim-bookworm AS build
WORKDIR /build
COPY pyproject.toml requirements.txt requirements.lock ./
# With --build-arg POSTGRES=1 also the driver of PostgreSQL, in the version that the tests use.
ARG POSTGRES=""
# Only wheels, each checked against its hash in the lock: nothing is compiled, and neither stage has a compiler.
# The app's environment has no pip.
RUN python -m venv --without-pip /opt/venv \
    && awk '/^uv==/ {found = 1} found {print} found && !/\\$/ {exit}' requirements.lock > uv.lock \
    && python -m pip install --disable-pip-version-check --no-cache-dir --require-hashes -r uv.lock \
    && uv pip install --python /opt/venv/bin/python --no-cache --only-binary :all: --require-hashes \
        -r requirements.txt --constraints requirements.lock ${POSTGRES:+--group postgres}

FROM python:3.11.14-slim-bookworm
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin rff \
    && install -d -o rff -g rff -m 0750 /data
COPY --from=build /opt/venv /opt/venv
WORKDIR /app
# What .dockerignore allows: the app, the engine, the bundled data. Root owns the files, so the app cannot change them.
COPY . .
RUN ["/opt/venv/bin/python", "-m", "compileall", "-q", "/app"]

# All writes go below /data: results, downloads, and what libraries keep in the user's home. Temporary files go to /tmp if
# it is writable (a tmpfs), else to /data: Python tries TMPDIR, then TEMP.
# Every rerun of a page has its own thread. By default glibc keeps up to eight heaps per core for threads and does not
# return their free memory; `python -m benchmarks.load` measures the effect of MALLOC_ARENA_MAX.
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
# It opens a page, for which it allows 120 s, and closes the connection, at most 10 s.
HEALTHCHECK --interval=30s --timeout=135s --start-period=60s --retries=3 \
    CMD ["python", "deploy/health.py", "8501"]
CMD ["python", "-m", "streamlit", "run", "serve.py", "--server.address=0.0.0.0", "--server.port=8501"]
