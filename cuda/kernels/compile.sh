#!/usr/bin/env bash
# Compiles the kernels to PTX. It needs clang++-19, Debian's package clang-19, and no CUDA
# toolkit. Products and sums are never fused, but where a kernel says so.
set -euo pipefail
cd "$(dirname "$0")"
tables() { # prints the tables of packages fixed and philox, as C
	local folder=${REVNUM_FIXED:-../../internal/fixedtables}
	local from=$folder/tables.go
	echo 'struct U128 { u64 hi, lo; };'
	echo 'struct LogEntry { u64 inv; U128 ln; };'
	sed -nE 's/^\t(Ln2Q57|Ln2Q64) += (0x[0-9a-f]+).*/CONSTANT u64 \l\1 = \2;/p' "$from"
	sed -nE 's/^\t(Log2eLess1Q128|ExpOffsetQ121) += \[2\]uint64(.*)/CONSTANT u64 \l\1[2] = \2;/p' "$from"
	table() { # prints a table of $3 numbers: the lines from one that matches $2, without that, to the next }
		echo "TABLE $1[${3-256}] = {"
		sed -n "/$2/,/^}\$/p" "$from" | sed '1d;s/\[2\]uint64//;$s/}/};/'
	}
	table 'U128 exp2Coarse' '^var Exp2Coarse'
	table 'u64 exp2Fine' '^var Exp2Fine'
	table 'LogEntry logTable' '^}{'
	table 'u64 atanTable' '^var Atan' 65
	from=$folder/../../philox/ztables.go
	table 'u64 bodyTable' '^var body' '1280][4'
	table 'u64 tailTable' '^var tail' '172][11'
}
[ "${1-}" != tables ] || { tables; exit; } # for other compilers
tables=$(mktemp -d)
trap 'rm -r "$tables"' EXIT
tables >"$tables/tables.h"
[ $# -gt 0 ] || set -- *.cu
compile() {
	case $1 in
	*_sm80.cu) arch=sm_80 isa=ptx70 ;;
	*_sm90.cu) arch=sm_90 isa=ptx78 ;;
	fixedmixture.cu) arch=sm_75 isa=ptx65 ;; # products of bytes
	*) arch=sm_75 isa=ptx63 ;;
	esac
	clang++-19 -x cuda --cuda-device-only --cuda-gpu-arch=$arch -nocudainc -nocudalib -I"$tables" \
		-Xclang -target-feature -Xclang +$isa -ffp-contract=off -std=c++17 -O3 \
		-Wall -Wextra -Werror -S "$1" -o "${1%.cu}.ptx"
	sed -Ei 's/^\.maxclusterrank ([0-9]+)/.explicitcluster\n.reqnctapercluster \1/' "${1%.cu}.ptx" # cluster.h says why
	if grep -q '^\s*CLUSTER ' "$1" && ! grep -q '^\.reqnctapercluster ' "${1%.cu}.ptx"; then
		echo "$1: the PTX has no .maxclusterrank, which would become the blocks of a cluster" >&2
		exit 1
	fi
}
export -f compile
export tables
printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" bash -euc 'compile "$0"'
