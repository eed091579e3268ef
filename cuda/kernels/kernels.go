// Package kernels holds the kernels of the GPU as PTX, the assembly that the driver
// compiles for the card.
package kernels

import "embed"

//go:generate ./compile.sh

// PTX are the files of kernels.
//
//go:embed *.ptx
var PTX embed.FS
