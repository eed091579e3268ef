package program

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The ranges of numbers that many commands have.
const (
	MaxWorkers    = 1024
	MaxIterations = 1 << 20
	MaxFloat      = 1e100 // whose square is finite
)

// ranged is the value of a flag: a number from low to high.
type ranged[T int | float64 | time.Duration] struct {
	to        *T
	low, high T
	kind      string
	parse     func(s string) (T, error)
}

// String implements pflag.Value.
func (r *ranged[T]) String() string { return fmt.Sprint(*r.to) }

// Type implements pflag.Value.
func (r *ranged[T]) Type() string { return r.kind }

// Set implements pflag.Value.
func (r *ranged[T]) Set(s string) error {
	v, err := r.parse(s)
	if err != nil || v != max(r.low, min(v, r.high)) { // also NaN
		return fmt.Errorf("expected %s from %v to %v", map[string]string{"int": "an integer", "float": "a number", "duration": "a duration"}[r.kind], r.low, r.high)
	}
	*r.to = v
	return nil
}

func (r *ranged[T]) add(cmd *cobra.Command, name, short string, value T, usage string) {
	*r.to = value
	cmd.Flags().VarP(r, name, short, fmt.Sprintf("%s (%v to %v)", usage, r.low, r.high))
}

// IntFlag adds a flag to cmd for an integer from low to high. Short is one letter or empty. The
// help shows the range.
func IntFlag(cmd *cobra.Command, to *int, name, short string, value, low, high int, usage string) {
	(&ranged[int]{to, low, high, "int", strconv.Atoi}).add(cmd, name, short, value, usage)
}

// FloatFlag adds a flag for a number, as IntFlag does.
func FloatFlag(cmd *cobra.Command, to *float64, name string, value, low, high float64, usage string) {
	parse := func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }
	(&ranged[float64]{to, low, high, "float", parse}).add(cmd, name, "", value, usage)
}

// DurationFlag adds a flag for a duration, as IntFlag does.
func DurationFlag(cmd *cobra.Command, to *time.Duration, name string, value, low, high time.Duration, usage string) {
	(&ranged[time.Duration]{to, low, high, "duration", time.ParseDuration}).add(cmd, name, "", value, usage)
}

// TimeFlag adds the flag --time of commands that measure.
func TimeFlag(cmd *cobra.Command, to *time.Duration, value time.Duration, usage string) {
	DurationFlag(cmd, to, "time", value, 1, time.Hour, usage)
}

// Complete makes the shell complete the flag with one of the words.
func Complete(cmd *cobra.Command, flag string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // fails if there is no such flag
}

// flagError returns an error of pflag in the words of our own.
func flagError(_ *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	reason, found := invalid.Unwrap(), fmt.Sprintf(", found %q", invalid.GetValue())
	if number := new(strconv.NumError); errors.As(reason, &number) {
		reason = errors.New(map[string]string{"bool": "expected true or false", "uint64": "expected an integer of 64 bits, not negative"}[invalid.GetFlag().Value.Type()])
	}
	if strings.HasSuffix(reason.Error(), found) {
		found = ""
	}
	return fmt.Errorf("--%s: %w%s", invalid.GetFlag().Name, reason, found)
}
