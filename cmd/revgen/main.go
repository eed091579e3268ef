// Revgen reads functions of a reversible subset of Go, and writes kernels. For each
// function with the comment
//
//	//revgen:kernel Name[T rev.Real]
//
// it writes a type Name, its constructor over gonum's types and all passes of package
// rev. The kernels of file.go go to file_rev.go beside it.
//
// Usage:
//
//	revgen [DIR ...]
//	revgen explain FUNC [DIR]
//
// Without folders it takes the current one, as in a directive of go generate:
//
//	//go:generate go run revnum/cmd/revgen
//
// Revgen explain prints the equations of a function and of its adjoint, and a picture
// of the flow of data in Mermaid's language. docs/revgen.md is a tutorial, and says
// what functions may contain.
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
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "explain" {
		return explain(args[1:], out)
	}
	return generate(args)
}

func explain(args []string, out io.Writer) error {
	dir := "."
	switch len(args) {
	case 1:
	case 2:
		dir = args[1]
	default:
		return errors.New("usage: revgen explain FUNC [DIR]")
	}
	text, err := revgen.Explain(dir, args[0])
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}

func generate(dirs []string) error {
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
