# An image with the command line:  docker build -t reticent .
#
# Run it on a folder, as yourself, with the ledger outside of the folder that you may hand out:
#   mkdir -p ~/reticent-ledger
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" -v ~/reticent-ledger:/ledger reticent check job.toml
#
# --user: files that the container writes belong to you, and it reads what you may read. Without it the container is the
# user 1000, who may not write to a folder of yours.
FROM python:3.13-slim AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY pyproject.toml setup.py constraints.txt README.md LICENSE ./
COPY src src
# Kernels are compiled or the image is not built.
RUN python -m venv /venv \
 && KERNELS=required /venv/bin/python -m pip install --no-cache-dir --constraint constraints.txt '.[postgres,excel,statfiles,query,charts,stats]'

FROM python:3.13-slim
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH
# The ledger of what was published must outlive the container, and is no part of what is handed out: it has a mount of
# its own. The image has no such folder and nobody here may make one, so that `publish` without the mount writes nothing
# instead of a ledger that is gone with the container.
ENV RETICENT_LEDGER=/ledger
# Whoever --user names has no home in the image.
ENV HOME=/tmp
RUN useradd --uid 1000 --create-home steward
USER steward
WORKDIR /data
ENTRYPOINT ["reticent"]
CMD ["--help"]
