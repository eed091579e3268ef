// Revgen reads functions of a reversible subset of Go, and writes kernels. For each
// function with the comment
//
//	//revgen:kernel Name[T rev.Real]
//
// it writes a type Name, its constructor over gonum's types and all passes of package
// rev. The kernels of file.go go to file_rev.go beside it.
//
// With the word workers behind the name, independent iterations of loops run on several
// workers.
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
	"flag"
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

const usage = `Usage:

  revgen [DIR ...]           write the kernels of file.go to file_rev.go, in each folder
  revgen explain FUNC [DIR]  print the equations of a function and of its adjoint

Without folders it takes the current one. Kernels are written for the functions with the
comment

  //revgen:kernel Name[T rev.Real]
`

func run(args []string, out io.Writer) error {
	verb := ""
	if len(args) > 0 && args[0] == "explain" {
		verb, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("revgen", flag.ContinueOnError) // there are none but -h
	flags.SetOutput(io.Discard)
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		_, err := io.WriteString(out, usage)
		return err
	case err != nil:
		return fmt.Errorf("%w\n%s", err, usage)
	case verb == "explain":
		return explain(flags.Args(), out)
	}
	return generate(flags.Args())
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
