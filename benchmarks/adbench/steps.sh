#!/bin/sh
# Builds this folder as src/go of a project of CMake, and calls the runner with the arguments of
# ADBench's run-all.ps1. Usage: steps.sh [CLONE]. With a clone of ADBench, its C++ runner and its module
# Manual are built and called too, Jacobians are compared with those of Manual, and its
# plot_graphs.py draws the times. PYTHON is a Python with matplotlib and plotly. Without a clone, the
# problems are those of the tests, which are of GMM and BA alone.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
revnum=$(git -C "$here" rev-parse --show-toplevel)
clone=${1:+$(CDPATH='' cd -- "$1" && pwd)}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
trap 'exit 1' HUP INT TERM # dash runs no trap of EXIT on these
mkdir -p "$root/src"
cp -r "$here" "$root/src/go"
# The four settings are repeated from ADBench's own CMakeLists.txt, which loads a package manager first.
cat >"$root/CMakeLists.txt" <<'END'
cmake_minimum_required (VERSION 3.12)
project ("ADBench" NONE)
set(CMAKE_EXECUTABLE_SUFFIX .exe)
set(CMAKE_SHARED_MODULE_PREFIX "")
set(CMAKE_SHARED_MODULE_SUFFIX .dll)
set(CMAKE_CXX_STANDARD 14)
add_subdirectory ("src/go")
END
if [ -n "$clone" ]; then
	cp -r "$clone/src/cpp" "$root/src"
	cp -r "$clone/ADBench" "$root"
	printf 'add_subdirectory ("src/cpp/%s")\n' runner modules/manual >>"$root/CMakeLists.txt"
fi

# quiet COMMAND... prints what the command says only if it fails.
quiet() { "$@" >"$root/log" 2>&1 || { cat "$root/log"; exit 1; }; }
quiet cmake -S "$root" -B "$root/build" -DREVNUM="$revnum" -DCMAKE_BUILD_TYPE=Release
quiet cmake --build "$root/build"

runner() {
	case $2 in
	Manual) quiet "$root/build/src/cpp/runner/CppRunner.exe" "$1" "$root/build/src/cpp/modules/manual/Manual.dll" "$3" "$4" 0.01 2 2 1 ;;
	*) quiet "$root/build/src/go/runner/GoRunner.exe" adbench "$1" "$2" "$3" "$4" 0.01 2 2 1 ;;
	esac
}

# run TASK FOLDER PLACE NAME calls the runners, and looks at their files.
run() {
	for module in ${clone:+Manual} Revnum RevnumMT; do
		out=$root/tmp/Release/$3/$module
		mkdir -p "$out"
		runner "$1" $module "$2/$4.txt" "$out/"
		for part in times F J; do
			[ -s "$out/$4_${part}_$module.txt" ] || { echo "$1: no file $4_${part}_$module.txt"; exit 1; }
		done
		tr -s ' \t' '\n\n' <"$out/$4_J_$module.txt" >"$root/$module"
		[ -z "$clone" ] || sh "$here/same.sh" "$root/Manual" "$root/$module" || { echo "$1: $module differs from Manual"; exit 1; }
	done
	echo "$3 $4: ok"
}

if [ -z "$clone" ]; then
	data=$revnum/benchmarks/internal/adbench/testdata
	run GMM "$data" gmm gmm_d3_K4
	run BA "$data" ba ba_n2_m3_p7
	exit
fi
for size in d2_K5 d10_K25 d64_K10; do
	run GMM "$clone/data/gmm/1k" gmm/1k gmm_$size
done
run BA "$clone/data/ba" ba ba1_n49_m7776_p31843
run Hand "$clone/data/hand/simple_small" hand/simple_small hand1_t26_c100
run Hand-Complicated "$clone/data/hand/complicated_small" hand/complicated_small hand1_t26_c100
run LSTM "$clone/data/lstm" lstm lstm_l2_c1024
quiet "${PYTHON:-python3}" "$root/ADBench/plot_graphs.py" --save
grep 'Plotted [1-9]' "$root/log" || { cat "$root/log"; exit 1; }
