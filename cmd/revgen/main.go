// Revgen reads functions of Go, and writes their derivatives. For a function f with the comment
//
//	//revgen:gradient p
//
// it writes fGradient(grad, p, ...), which returns what f returns and stores its gradient by
// the parameter p in grad. With the word hessian after p it also writes fHessVec and
// fHessian, and with the word value fValue, which returns what f returns by the vector code of the gradient.
// The word both asks for fGradientHessVec, which does what fGradient and fHessVec do.
// For a function f(dst, x, ...) with the comment
//
//	//revgen:jacobian x
//
// it writes fJVP, fVJP and fJacobian, with the word jvp after x only fJVP, with the word
// sparse also fSparseJacobian, and with the word rows also fVJP2, two products on the left. Those of file.go go to file_grad.go beside it.
//
// Revgen also writes kernels, from functions of a reversible subset of Go. For each function
// with the comment
//
//	//revgen:kernel Name[T rev.Real]
//
// it writes a type Name, its constructor over gonum's types and all passes of package
// rev. The kernels of file.go go to file_rev.go beside it.
//
// With the word workers after the name, independent iterations of loops run on several
// workers.
//
// Revgen also serves kernels that are written by hand: exported structs of operands with a
// method Run(rev.Pass[...]). To zpasses.go it writes what the package does not declare of
//
//   - the methods Forward, Inverse, Adjoint, Tangent and AdjointTangent. They return an error
//     unless the comment of Run says "It returns no error." There is no AdjointTangent, and
//     the others return nothing, if it says "Its only error is rev.ErrUnsupported";
//   - the method check, which compares sizes and memory of the operands before a pass, for most
//     kernels. If the struct has a field or method of this name, the passes do not call it, and
//     rev's functions check the operands, which takes longer;
//   - the constructor New over gonum's types, if all operands have such a type and all other
//     fields are flags or the number of workers.
//
// For a bilinear kernel z += B(x, y), with one acc operand and two in operands, it writes Run
// too. Such a kernel has the methods
//
//	addProduct(sign int, z, x, y)  // z += sign·B(x, y)
//	addLeft(gx, gz, y)             // x̄ += the adjoint of x ↦ B(x, y) at z̄
//	addRight(gy, x, gz)            // ȳ += the adjoint of y ↦ B(x, y) at z̄
//
// in the place of Run, with a pointer for a receiver. They are called with operands that are
// not nil. If there is a Run, which cuts its work into parts, a method run(sign int, g, t, gt *K) is
// written instead. That Run also handles in operands that are optional.
//
// Generic kernels of this module have functions in place of these methods, such as revlinalg's
// crossAddProduct and dotRun, so that packages that use them do not compile them again. They call a
// package that is internal: outside of the module, write methods.
//
// Comments of methods come from the comment of the struct. Its first indented block is the
// equation, and later ones have the derivatives: terms such as x̄ += α·ȳ, with a bar for
// cotangents, a dot for tangents and ġ for tangents of cotangents, separated by commas.
//
// Usage:
//
//	revgen [-instances] [DIR ...]
//	revgen explain FUNC [DIR]
//
// Without folders it takes the current one, as in a directive of go generate. With -instances it also writes
// the table of the kernels that rules/internal/catalog reads, for packages of this module:
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
	"path/filepath"
	"slices"

	"revnum/cmd/revgen/internal/passes"
	"revnum/cmd/revgen/internal/revgen"
	"revnum/internal/outfile"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const usage = `Usage:

  revgen [-instances] [DIR ...]
                             write the gradients of file.go to file_grad.go, its kernels to
                             file_rev.go, in each folder, and the methods of kernels that are
                             written by hand to zpasses.go
  revgen explain FUNC [DIR]  print the equations of a function and of its adjoint

Without folders it takes the current one. With -instances it also writes a table of kernels,
for packages of this module. What is written for a function is in its comment:

  //revgen:gradient p [value] [both] [hessian]
  //revgen:jacobian x [jvp|sparse|rows]
  //revgen:kernel Name[T rev.Real]
`

func run(args []string, out io.Writer) error {
	verb := ""
	if len(args) > 0 && args[0] == "explain" {
		verb, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("revgen", flag.ContinueOnError)
	instances := flags.Bool("instances", false, "")
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
	return generate(flags.Args(), *instances)
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

func generate(dirs []string, instances bool) error {
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	var errs []error
	for _, dir := range dirs {
		errs = append(errs, generateDir(dir, instances))
	}
	return errors.Join(errs...)
}

// generateDir writes the passes of the kernels in dir first, because functions may call them.
func generateDir(dir string, instances bool) error {
	text, err := passes.File(dir, instances)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, passes.Name)
	if text != nil {
		err = write(name, text)
	} else if _, missing := os.Stat(name); missing == nil {
		err = fmt.Errorf("%s has methods of kernels that are gone: remove it", name)
	}
	if err != nil {
		return err
	}
	files, err := revgen.Dir(dir)
	if errors.Is(err, revgen.ErrNone) && text != nil {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		errs = append(errs, write(name, files[name]))
	}
	return errors.Join(errs...)
}

func write(name string, text []byte) error {
	return outfile.Write(name, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
