// The benchmarks command measures revnum. It also runs revnum as a tool of ADBench and
// GradBench, and on your data. Without arguments it runs the default suite.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"revnum/internal/outfile"
)

// errInterrupted is the error of a command that an interrupt stopped after it wrote its
// result so far.
var errInterrupted = errors.New("interrupted")

// stopping is called on the next interrupt. If no command has set it, the interrupt
// ends the process.
var stopping atomic.Pointer[context.CancelFunc]

func main() {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range interrupted {
			if stop := stopping.Swap(nil); stop != nil {
				(*stop)()
				continue
			}
			outfile.Abort()
			fmt.Fprintln(os.Stderr, "\ninterrupted")
			os.Exit(130)
		}
	}()
	os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// execute runs one command and returns its exit status: 0, 1 for an error, 2
// for a bug, 130 after an interrupt.
func execute(args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "benchmarks: this is a bug in revnum: %v\n", p)
			if os.Getenv("REVNUM_TRACE") != "" {
				fmt.Fprintf(stderr, "%s", debug.Stack())
			} else {
				fmt.Fprintln(stderr, "set REVNUM_TRACE=1 to see where")
			}
			status = 2
		}
	}()
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	switch {
	case errors.Is(err, errInterrupted):
		fmt.Fprintln(stderr, "interrupted")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "benchmarks:", err)
		return 1
	}
	return 0
}

// newRoot returns the command with all its subcommands.
func newRoot() *cobra.Command {
	root := newSuite()
	root.AddCommand(newADBench(), newGradBench(), newGMM(), newGraphEmbed(), newBA(), newGen(), newPeak(), newNumbers(), newSparse(), newRules(), newTradeoff(), newNBody(), newWave(), newForkJoin(), newFlow(), newConsistency())
	root.SilenceUsage = true
	root.SilenceErrors = true
	return root
}
