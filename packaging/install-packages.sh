#!/bin/sh
# Installs the missing Debian packages of a list (default: apt-packages.txt beside this script). If none is missing, it
# prints nothing and does not ask for rights. Installing needs root, or sudo.
# shellcheck disable=SC2086  # lists of package names are split on purpose
set -eu

list=${1:-$(dirname "$0")/apt-packages.txt}
wanted=$(sed 's/#.*//' "$list")

if ! command -v dpkg-query >/dev/null; then
  echo "install-packages: this is not a Debian system; install by hand what $list names" >&2
  exit 1
fi

# dpkg-query complains about unknown packages; those are missing, too.
installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null | sed -n 's/ installed$//p' || true)
missing=
for package in $wanted; do
  printf '%s\n' "$installed" | grep -qxF -e "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "install-packages: installing$missing"
if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  echo "install-packages: this needs root; run as root: apt-get install$missing" >&2
  exit 1
fi
# A bare system has no package lists yet, and old lists refer to deleted files.
$as_root apt-get update -qq </dev/null
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing </dev/null
