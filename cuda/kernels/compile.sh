#!/usr/bin/env bash
# Compiles the kernels to PTX. It needs clang++-19, Debian's package clang-19, and no CUDA
# toolkit. Products and sums are never fused, but where a kernel says so.
set -euo pipefail
cd "$(dirname "$0")"
for source in *.cu; do
	clang++-19 -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 -nocudainc -nocudalib \
		-Xclang -target-feature -Xclang +ptx63 -ffp-contract=off -std=c++17 -O3 \
		-Wall -Wextra -Werror -S "$source" -o "${source%.cu}.ptx"
done
