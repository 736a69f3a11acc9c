# An image with the command line:  docker build -t reticent .
# Run it on a folder:              docker run --rm -v "$PWD:/data" reticent check job.toml
FROM python:3.13-slim AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY pyproject.toml setup.py constraints.txt README.md LICENSE ./
COPY src src
# Kernels are compiled or the image is not built.
RUN python -m venv /venv \
 && KERNELS=required /venv/bin/python -m pip install --no-cache-dir --constraint constraints.txt '.[postgres,excel,statfiles,query]'

FROM python:3.13-slim
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH
# The ledger of what was published must outlive the container: it lies in the mounted folder.
ENV RETICENT_LEDGER=/data/reticent-ledger
RUN useradd --create-home steward
USER steward
WORKDIR /data
ENTRYPOINT ["reticent"]
CMD ["--help"]
