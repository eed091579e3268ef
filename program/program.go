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
	"strings"
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

// Recover makes a panic one line on stderr, after the command's name. With REVNUM_TRACE in the
// environment, the stack follows. Defer it at the top of a command; failed is called after a panic.
func Recover(name string, stderr io.Writer, failed func()) {
	p := recover()
	if p == nil {
		return
	}
	if os.Getenv("REVNUM_TRACE") != "" {
		fmt.Fprintf(stderr, "%s: this is a bug in revnum: %v\n%s", name, p, debug.Stack())
	} else {
		text := strings.Join(strings.Fields(fmt.Sprint(p)), " ")
		fmt.Fprintf(stderr, "%s: this is a bug in revnum: %s (REVNUM_TRACE=1 shows where)\n", name, text)
	}
	failed()
}

// Quiet makes the command return errors, in which flags are named as ours are, and print nothing.
func Quiet(root *cobra.Command) {
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetFlagErrorFunc(flagError)
}

// Execute runs a command and returns its exit status: 0, 1 for an error or a bug, 130 after an
// interrupt. It prints errors after the command's name.
func Execute(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	defer Recover(root.Name(), stderr, func() { status = 1 })
	Quiet(root)
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

// Group returns a command that only has others.
func Group(name, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(commands...)
	return cmd
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
