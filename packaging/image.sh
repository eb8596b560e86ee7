#!/bin/sh
# Builds the container image `holdshort` with podman, and writes it as an OCI archive into dist/.
#
#   packaging/image.sh            on the base that the Containerfile names
#   packaging/image.sh --debian   on a base from Debian's package archive, where none can be pulled (needs mmdebstrap)
#
# `cargo xtask dist` comes first. What else stands on the command line is for `podman build`.
set -eu
cd "$(dirname "$0")/.."

if [ "${1:-}" = --debian ]; then
    shift
    root=$(mktemp)
    trap 'rm -f "$root"' EXIT
    # As the base that the Containerfile names: what Debian calls a minimal system, without manuals and translations.
    mmdebstrap --variant=minbase \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        trixie - >"$root"
    podman import "$root" localhost/holdshort-base
    set -- --pull=never --build-arg BASE=localhost/holdshort-base "$@"
fi

# Of the formats, that of Docker alone has health checks.
podman build --format docker --file packaging/Containerfile --tag holdshort "$@" dist
archive=$(basename dist/holdshort-*-linux-gnu.tar.gz .tar.gz)
rm -f "dist/$archive-image.tar"
podman save --format oci-archive --output "dist/$archive-image.tar" holdshort
podman image inspect --format '{{.Size}} bytes' holdshort
