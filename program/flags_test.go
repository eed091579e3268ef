package program_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"revnum/program"
)

func TestFlags(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"-n=1", ""}, {"--number=9", ""}, {"--x=-0.5", ""}, {"--x=1e3", ""}, {"--d=1h", ""},
		{"-n=0", `--number: expected an integer from 1 to 9, found "0"`},
		{"--number=9223372036854775808", `--number: expected an integer from 1 to 9, found "9223372036854775808"`},
		{"--number=", `--number: expected an integer from 1 to 9, found ""`},
		{"--number=2.5", `--number: expected an integer from 1 to 9, found "2.5"`},
		{"--x=NaN", `--x: expected a number from -0.5 to 1000, found "NaN"`},
		{"--x=inf", `--x: expected a number from -0.5 to 1000, found "inf"`},
		{"--x=1001", `--x: expected a number from -0.5 to 1000, found "1001"`},
		{"--d=0s", `--d: expected a duration from 1ms to 1h0m0s, found "0s"`},
		{"--d=5", `--d: expected a duration from 1ms to 1h0m0s, found "5"`},
		{"--nonsense", "unknown flag: --nonsense"},
	} {
		var n int
		var x float64
		var d time.Duration
		cmd := &cobra.Command{Use: "c", RunE: func(*cobra.Command, []string) error { return nil }}
		program.IntFlag(cmd, &n, "number", "n", 3, 1, 9, "a number")
		program.FloatFlag(cmd, &x, "x", 0, -0.5, 1000, "another")
		program.DurationFlag(cmd, &d, "d", time.Second, time.Millisecond, time.Hour, "a time")
		if help := cmd.UsageString(); !strings.Contains(help, "--number int   a number (1 to 9) (default 3)") {
			t.Fatal(help)
		}
		var errs bytes.Buffer
		status := program.Execute(cmd, []string{c.arg}, strings.NewReader(""), &errs, &errs)
		if want := "c: " + c.want + "\n"; c.want == "" && status != 0 || c.want != "" && (status != 1 || errs.String() != want) {
			t.Errorf("%s: status %d, %q, want %q", c.arg, status, errs.String(), want)
		}
	}
}
