//go:build !windows && !darwin

package memory

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"strconv"
)

// systemMemory returns MemAvailable if the system reports that, and never more than the address
// space.
func systemMemory() uint64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return unknown
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		fields := bytes.Fields(sc.Bytes())
		if len(fields) >= 2 && string(fields[0]) == "MemAvailable:" {
			if kib, err := strconv.ParseUint(string(fields[1]), 10, 50); err == nil {
				return min(kib<<10, math.MaxInt)
			}
		}
	}
	return unknown
}
