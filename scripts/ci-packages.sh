#!/usr/bin/env bash
# Installs the packages of the system that checks must not do without; does nothing where they are there.
set -euo pipefail
if compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null; then
	exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
	echo 'ci: PostgreSQL is missing and only root can install it: apt-get install postgresql' >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends postgresql
