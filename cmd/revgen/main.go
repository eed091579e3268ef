// Revgen reads functions of a reversible subset of Go, and writes kernels. For each
// function with the comment
//
//	//revgen:kernel Name[T rev.Real]
//
// it writes a type Name, its constructor over gonum's types and all passes of
// package rev. What file.go asks for goes to file_rev.go beside it.
//
// Usage:
//
//	revgen [DIR ...]
//
// Without folders it takes the current one, as go generate wants it:
//
//	//go:generate go run revnum/cmd/revgen
package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"revnum/internal/outfile"
	"revnum/internal/revgen"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dirs []string) error {
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	var errs []error
	for _, dir := range dirs {
		files, err := revgen.Dir(dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			errs = append(errs, outfile.Write(name, func(w io.Writer) error {
				_, err := w.Write(files[name])
				return err
			}))
		}
	}
	return errors.Join(errs...)
}
