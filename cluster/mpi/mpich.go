//go:build mpich

package mpi

// The flags are in a file of their own because the build cache does not tell apart the
// flags of pkg-config for one list of files.

// #cgo pkg-config: mpich
import "C"
