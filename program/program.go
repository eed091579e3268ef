// Package program is what the commands of several programs share: exit statuses, interrupts,
// progress bars, and checks of where a result is to go.
package program

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
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"revnum/internal/outfile"
)

// ErrInterrupted is the error of a command that an interrupt stopped after it wrote its
// result so far.
var ErrInterrupted = errors.New("interrupted")

// stopping is called on the next interrupt. If no command has set it, the interrupt
// ends the process.
var stopping atomic.Pointer[context.CancelFunc]

// Interruptible returns a context that is cancelled by the next interrupt, which then does not
// end the process. After end, interrupts end it again.
func Interruptible(ctx context.Context) (in context.Context, end func()) {
	in, cancel := context.WithCancel(ctx)
	stopping.Store(&cancel)
	return in, func() { stopping.Store(nil) }
}

// Interrupt does what an interrupt does to a command between Interruptible and its end. It
// reports whether there is one.
func Interrupt() bool {
	stop := stopping.Swap(nil)
	if stop != nil {
		(*stop)()
	}
	return stop != nil
}

// Main runs a command with the arguments of the process, and ends the process.
func Main(root *cobra.Command) {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range interrupted {
			if Interrupt() {
				continue
			}
			outfile.Abort()
			fmt.Fprintln(os.Stderr, "\ninterrupted")
			os.Exit(130)
		}
	}()
	os.Exit(Execute(root, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Execute runs a command and returns its exit status: 0, 1 for an error, 2 for a bug, 130
// after an interrupt. It prints errors after the command's name.
func Execute(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "%s: this is a bug in revnum: %v\n", root.Name(), p)
			if os.Getenv("REVNUM_TRACE") != "" {
				fmt.Fprintf(stderr, "%s", debug.Stack())
			} else {
				fmt.Fprintln(stderr, "set REVNUM_TRACE=1 to see where")
			}
			status = 2
		}
	}()
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	switch {
	case errors.Is(err, ErrInterrupted):
		fmt.Fprintln(stderr, "interrupted")
		return 130
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\n", root.Name(), err)
		return 1
	}
	return 0
}

// Bar returns a progress bar of n steps, or of an unknown number if n is -1. It
// shows only on a terminal.
func Bar(w io.Writer, n int) *progressbar.ProgressBar {
	f, ok := w.(*os.File)
	return progressbar.NewOptions(n,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(ok && term.IsTerminal(int(f.Fd()))),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionThrottle(65*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
}
