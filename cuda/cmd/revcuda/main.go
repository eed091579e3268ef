// The revcuda command measures the kernels of package cuda on a GPU, and solves problems there.
// Build it with the tag cuda, but for doctor, which says what a build needs:
//
//	go run ./cmd/revcuda doctor
//	go run -tags cuda ./cmd/revcuda bench
//	go run -tags cuda ./cmd/revcuda ba solve FILE
//	go run -tags cuda ./cmd/revcuda gmm fit FILE
//
// The flag --help tells more.
package main

import (
	"revnum/cuda"
	"revnum/cuda/internal/revcuda"
	"revnum/program"
)

func main() { program.Main(revcuda.New(cuda.Open)) }
