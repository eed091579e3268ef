// Package kernels holds the kernels of the GPU as PTX, the assembly that the driver
// compiles for the card.
package kernels

import (
	"embed"
	"strings"
)

//go:generate ./compile.sh

// PTX are the files of kernels.
//
//go:embed *.ptx
var PTX embed.FS

// Needs returns the compute capability that a card needs for a file: 80 is 8.0.
func Needs(file string) int {
	if strings.HasSuffix(file, "_sm80.ptx") {
		return 80
	}
	return 75
}
