# The image of `make image`, for who would rather have an engine build it: the same programs, the same files, the same user.
# `make image` needs no engine and makes the same bytes every time; that is the one that is published (docs/evidence.md).
# A test holds the two together, and runs the commands below; an engine has not been run on this file where it was written.
# `make console` comes first: what it puts into internal/console/dist is part of the server, which has no web console otherwise.
#
#   docker build --build-arg VERSION="$(cat VERSION)" --build-arg COMMIT="$(git rev-parse HEAD)" \
#     --build-arg CREATED="$(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)" -t carve .

FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
ARG COMMIT=
ARG TARGETOS=linux
ARG TARGETARCH=amd64
RUN GOOS=${TARGETOS} GOARCH=${TARGETARCH} GOAMD64=v1 GOARM64=v8.0 CGO_ENABLED=0 \
    GOFLAGS=-mod=readonly GOEXPERIMENT= GOFIPS140=off GOWORK=off GOTOOLCHAIN=local \
    go build -o /image/ -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/carve-ipam/carve/internal/app.version=${VERSION} -X github.com/carve-ipam/carve/internal/app.commit=${COMMIT}" \
    ./cmd/ipamctl ./cmd/server
# Users, certificate authorities, licences and /tmp: from the program that makes them for `make image`.
RUN go run -C tools/image . rootfs --repo=/src --out=/image

FROM scratch
ARG VERSION=dev
ARG COMMIT=
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="Carve" \
      org.opencontainers.image.description="Carve hands out IP address space: server and ipamctl." \
      org.opencontainers.image.vendor="The Carve authors" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.url="https://github.com/carve-ipam/carve" \
      org.opencontainers.image.source="https://github.com/carve-ipam/carve" \
      org.opencontainers.image.documentation="https://github.com/carve-ipam/carve/tree/main/docs" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.revision="${COMMIT}"
COPY --from=build /image/ /
WORKDIR /
USER 65532:65532
EXPOSE 8080/tcp
ENTRYPOINT ["/server"]
