// Package kernels holds the kernels of the GPU as PTX, the assembly that the driver
// compiles for the card.
package kernels

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:generate ./compile.sh

// PTX are the files of kernels.
//
//go:embed *.ptx
var PTX embed.FS

// File returns the name of the file that has a kernel, or "" if none has.
func File(kernel string) string { return sources()[kernel].file }

// Source returns the PTX of one kernel, so that a driver compiles this one and not the whole file, or
// "" if there is none.
func Source(kernel string) string {
	s := sources()[kernel]
	if s.file == "" {
		return ""
	}
	return *s.common + s.entry
}

// Names returns the names of the kernels that a card of a compute capability can run, in order.
func Names(capability int) (names []string) {
	for name, s := range sources() {
		if Needs(s.file) <= capability {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A source is what belongs to a kernel.
type source struct {
	file   string
	common *string // what the file has outside of kernels
	entry  string
}

var sources = sync.OnceValue(func() map[string]source {
	files, err := PTX.ReadDir(".")
	if err != nil {
		panic(err) // they are in the program
	}
	of := map[string]source{}
	for _, f := range files {
		text, err := PTX.ReadFile(f.Name())
		if err != nil {
			panic(err)
		}
		common := new(string)
		for rest := string(text); rest != ""; {
			before, entry, found := strings.Cut(rest, ".visible .entry ")
			*common += before
			if !found {
				break
			}
			name, _, _ := strings.Cut(entry, "(")
			end := strings.Index(entry, "\n}\n") + len("\n}\n")
			of[name] = source{f.Name(), common, ".visible .entry " + entry[:end]}
			rest = entry[end:]
		}
	}
	return of
})

// Capability is the compute capability that a card needs for most files: 75 is 7.5.
const Capability = 75

// Needs returns the compute capability that a card needs for a file: 80 is 8.0.
func Needs(file string) int {
	for _, capability := range []int{80, 90} {
		if strings.HasSuffix(file, fmt.Sprintf("_sm%d.ptx", capability)) {
			return capability
		}
	}
	return Capability
}
