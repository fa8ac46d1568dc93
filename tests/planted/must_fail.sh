#!/bin/sh
# must_fail.sh TEXT PROGRAM: succeeds only if PROGRAM fails and its report contains TEXT.
if report=$("$2" 2>&1); then
  echo "$2 passed, but it holds a planted bug"
  exit 1
fi
case "$report" in
  *"$1"*) echo "found, as it must: $1" ;;
  *) printf 'no "%s" in:\n%s\n' "$1" "$report"; exit 1 ;;
esac
