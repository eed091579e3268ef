#!/bin/sh
# Compares two files of a number a line as ADBench does: the numbers of a line may differ by 1e-8 times the sum
# of their sizes, or by 1e-8 if that is more. Fails if any differ by more or are not finite, if a file is shorter,
# or if there are none. Usage: same.sh FILE FILE
paste "$1" "$2" | awk -F '\t' '
	function abs(x) { return x < 0 ? -x : x }
	function number(s) { return s ~ /^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$/ }
	$1 != "" || $2 != "" {
		all++
		size = abs($1) + abs($2)
		good += number($1) && number($2) && size < 1e300 && abs($1 - $2) <= 1e-8 * (size > 1 ? size : 1)
	}
	END { exit good < 1 || good < all }'
