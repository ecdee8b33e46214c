#!/usr/bin/env bash
# Installs the packages of the system that checks must not do without; does nothing where they are there.
set -euo pipefail
missing=()
if ! compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null && ! command -v initdb >/dev/null; then
	missing+=(postgresql)
fi
if ! command -v ip >/dev/null; then
	missing+=(iproute2)
fi
if [ "${#missing[@]}" -eq 0 ]; then
	exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "ci: only root can install what is missing: apt-get install ${missing[*]}" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends "${missing[@]}"
