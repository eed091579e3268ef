// Package memory says whether the memory of this machine suffices.
package memory

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
)

// availableMemory returns the number of bytes that a process can still allocate without
// swapping. It is MemAvailable if the system reports that, otherwise 4 GiB, and never
// more than the address space.
func availableMemory() uint64 {
	const unknown = 4 << 30
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return min(unknown, math.MaxInt)
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
	return min(unknown, math.MaxInt)
}

// Check returns an error if this machine lacks the memory for floats numbers of
// type float64. The error begins with what.
func Check(floats uint64, what string) error {
	have := availableMemory()
	if floats > have/8 {
		return fmt.Errorf("%s need %.1f GiB, and %.1f GiB are available", what,
			float64(floats)*8/(1<<30), float64(have)/(1<<30))
	}
	return nil
}
