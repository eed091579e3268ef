#!/bin/sh
# Builds this folder as src/go of a project of CMake, and calls the runner with the arguments of
# ADBench's run-all.ps1. Usage: steps.sh [DATA], with the folder data of ADBench. Without it, the
# problems are those of the tests, which are of GMM and BA alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
revnum=$(git -C "$here" rev-parse --show-toplevel)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/src"
cp -r "$here" "$root/src/go"
cat >"$root/CMakeLists.txt" <<'END'
cmake_minimum_required (VERSION 3.12)
project ("ADBench" NONE)
add_subdirectory ("src/go")
END
cmake -S "$root" -B "$root/build" -DREVNUM="$revnum" >"$root/log" || { cat "$root/log"; exit 1; }
cmake --build "$root/build" >"$root/log" || { cat "$root/log"; exit 1; }
runner=$root/build/src/go/runner/GoRunner.exe

# run OBJECTIVE FOLDER/ NAME calls the runner, and looks for its files.
run() {
	task=${1%%-*}
	[ "$1" != Hand-complicated ] || task=Hand-Complicated
	for module in Revnum RevnumMT; do
		out=$root/tmp/$1/$module/
		mkdir -p "$out"
		"$runner" adbench "$task" "$module" "$2$3.txt" "$out" 0.01 2 2 1 >"$root/log" || { cat "$root/log"; exit 1; }
		for part in times F J; do
			[ -s "$out$3_${part}_$module.txt" ] || { echo "$1: no file $3_${part}_$module.txt"; exit 1; }
		done
	done
	echo "$1: ok"
}

if [ $# -gt 0 ]; then
	run GMM "$1/gmm/1k/" gmm_d2_K5
	run BA "$1/ba/" ba1_n49_m7776_p31843
	run Hand-simple "$1/hand/simple_small/" hand1_t26_c100
	run Hand-complicated "$1/hand/complicated_small/" hand1_t26_c100
	run LSTM "$1/lstm/" lstm_l2_c1024
else
	data=$revnum/benchmarks/internal/adbench/testdata/
	run GMM "$data" gmm_d3_K4
	run BA "$data" ba_n2_m3_p7
fi
