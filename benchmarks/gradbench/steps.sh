#!/bin/sh
# Runs the steps of a tool's Dockerfile in a clean folder, with this checkout as REVNUM, and
# checks that the tool defines the modules in its evals.txt, and no others. The folder stands
# for / of the image: absolute paths of the steps are put into it. If GRADBENCH names a checkout of
# GradBench, its evals with other numbers judge the tool's answers (varied.py says what it needs).
# Usage: steps.sh revnum|revgen
set -eu
tool=$(CDPATH='' cd -- "$(dirname -- "$0")/${1:?usage: steps.sh revnum|revgen}" && pwd)
REVNUM=file://$(git -C "$tool" rev-parse --show-toplevel)
export REVNUM
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
trap 'exit 1' HUP INT TERM # dash runs no trap of EXIT on these
cd "$root"
entry=
label=
while read -r step rest; do
	case $step in
	FROM) go version | grep -q "go${rest#golang:}" || { echo "$rest: this is $(go version)"; exit 1; } ;;
	WORKDIR) mkdir -p "$root$rest" && cd "$root$rest" ;;
	RUN) sh -euc "$(printf %s "$rest" | sed "s|/gradbench/|$root&|g")" ;;
	ENTRYPOINT) entry=$(printf %s "$rest" | tr -d '[],"' | sed "s|/gradbench/|$root&|") ;;
	LABEL) label=$rest ;;
	ARG | '' | '#') ;;
	*) echo "unknown step: $step $rest"; exit 1 ;;
	esac
done <"$tool/Dockerfile"
[ "$label" = org.opencontainers.image.source=https://github.com/gradbench/gradbench ]
[ "$(tail -n 1 "$tool/Dockerfile")" = "LABEL $label" ]
for eval in ba det gmm hello ht kmeans llsq lse lstm ode particle saddle; do
	want=false
	grep -qx "$eval" "$tool/evals.txt" && want=true
	answer=$(printf '{"id":0,"kind":"start"}\n{"id":1,"kind":"define","module":"%s"}\n' $eval | $entry)
	case $answer in
	'{"id":0,"tool":"'"$1"'"}'*'"success":'$want*) ;;
	*) echo "$eval: $answer"; exit 1 ;;
	esac
done
if [ -n "${GRADBENCH-}" ]; then
	# shellcheck disable=SC2086 # the entry point is a command with arguments
	python3 "$tool/../varied.py" "$GRADBENCH" $entry
fi
echo "$1: the steps ran, and the tool has the modules of evals.txt"
