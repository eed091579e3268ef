// Package kernels holds the kernels of the GPU as PTX, the assembly that the driver
// compiles for the card.
package kernels

import (
	"embed"
	"strings"
	"sync"
)

//go:generate ./compile.sh

// PTX are the files of kernels.
//
//go:embed *.ptx
var PTX embed.FS

// File returns the name of the file that has a kernel, or "" if none has.
func File(kernel string) string { return fileOf()[kernel] }

var fileOf = sync.OnceValue(func() map[string]string {
	files, err := PTX.ReadDir(".")
	if err != nil {
		panic(err) // they are in the program
	}
	of := map[string]string{}
	for _, f := range files {
		text, err := PTX.ReadFile(f.Name())
		if err != nil {
			panic(err)
		}
		const entry = ".visible .entry "
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, entry); ok {
				of[name[:strings.IndexByte(name, '(')]] = f.Name()
			}
		}
	}
	return of
})

// Needs returns the compute capability that a card needs for a file: 80 is 8.0.
func Needs(file string) int {
	if strings.HasSuffix(file, "_sm80.ptx") {
		return 80
	}
	return 75
}
