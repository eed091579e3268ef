package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/evals"
	"revnum/benchmarks/internal/gradbench"
	"revnum/internal/outfile"
	"revnum/program"
	"revnum/program/figure"
)

func newEvals() *cobra.Command {
	var checkout evals.Checkout
	var evalNames, toolNames []string
	var out, plot string
	var add bool
	cmd := &cobra.Command{
		Use:   "evals GRADBENCH",
		Short: "Measure revnum beside other tools on GradBench's evals",
		Long: `evals runs GradBench's evals, in a clone of its repository, with its tools in C++ and in Python
and with ours, in turn. It builds GradBench's own command, which runs each eval with each tool, and
reads its logs: the eval judges the answers. It needs cargo, make, a C++ compiler, and
json.hpp ("make -C cpp" in the clone loads it; Debian's nlohmann-json3-dev has it too). All tools run on one
thread. If a tool cannot be built or does not finish an eval, a line says why, and the others
go on.

A row of --out is one evaluation by one tool: the number of runs, the nanoseconds of the first
run, of the fastest and of the mean, and the outcome:

  valid, invalid  what the eval says of the answer
  unjudged        the eval ended before it said so
  failed          the tool says that it failed
  silent          the tool ended without an answer, or it took longer than --timeout

--out is written after each eval of a tool. An interrupt ends all programs, and the file has what was
measured before. With --add it keeps its rows, but for those measured again, so you may measure in
pieces. The logs of ba take up to 5 GB in the folder for temporary files while it runs.

Our tools are ` + strings.Join(ourNames(), ", ") + `. Of GradBench's, manual
has derivatives by hand, and the evals compare answers with it. tapenade has what Tapenade wrote; only
its hello needs Tapenade. codipack needs --codipack, enzyme --enzyme and clang++,
jax and pytorch their packages. You may name others, such as adept and cppad, which find their headers
by the variable CPATH. A tool of your own in Python, as NAME=SCRIPT, answers GradBench's protocol:
casadi=benchmarks/gradbench/casadi_peer.py is one over CasADi.

--enzyme is the folder in which Enzyme was built. Its sources need LLVM's headers and linker (Debian's
llvm-19-dev, libzstd-dev and lld-19):

  cmake -S Enzyme/enzyme -B BUILD -DLLVM_DIR=/usr/lib/llvm-19/lib/cmake/llvm -DENZYME_CLANG=OFF
  make -C BUILD LLDEnzyme-19        # --enzyme BUILD/Enzyme`,
		Example: `  git clone https://github.com/gradbench/gradbench
  git clone https://github.com/SciCompKL/CoDiPack
  python -m venv VENV && VENV/bin/pip install numpy scipy pydantic dataclasses-json jax torch
  go run ./benchmarks peers evals gradbench --python VENV/bin/python --codipack CoDiPack -o docs/evals.csv --plot docs/speed.svg
  go run ./benchmarks peers evals gradbench --eval "ba --max 8" --eval det --tool manual,revnum`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			checkout.Dir = args[0]
			if plot != "" {
				if err := figure.Check(plot); err != nil {
					return fmt.Errorf("--plot: %w", err)
				}
			}
			if err := program.CheckOutputs(nil, program.Output{Flag: "out", Path: out}, program.Output{Flag: "plot", Path: plot}); err != nil {
				return err
			}
			for _, path := range []*string{&checkout.Dir, &checkout.Codipack, &checkout.Enzyme, &checkout.Python} {
				// The programs run in the clone.
				if *path == "" || path == &checkout.Python && filepath.Base(*path) == *path {
					continue
				}
				var err error
				if *path, err = filepath.Abs(*path); err != nil {
					return err
				}
			}
			all, err := checkout.Evals()
			if err != nil {
				return err
			}
			chosen, err := chooseEvals(all, evalNames)
			if err != nil {
				return err
			}
			var has []string
			for _, e := range all {
				has = append(has, e.Name)
			}
			tools, err := chooseTools(&checkout, toolNames, has)
			if err != nil {
				return err
			}
			if add && out == "" {
				return errors.New("--add: needs --out")
			}
			var rows []evals.Row
			if _, err := os.Stat(out); add && err == nil {
				if rows, err = evals.Load(out); err != nil {
					return fmt.Errorf("--add: %w", err)
				}
			}
			found := func(more []evals.Row) error {
				rows = evals.Merge(rows, more)
				if out == "" {
					return nil
				}
				return outfile.Write(out, func(w io.Writer) error { return evals.Write(w, rows) })
			}
			ctx, end := program.Interruptible(cmd.Context())
			defer end()
			err = measureEvals(ctx, cmd, &checkout, chosen, tools, found)
			if ctx.Err() != nil {
				return program.ErrInterrupted
			}
			if err != nil {
				return err
			}
			if plot != "" {
				if err := evals.SaveFigure(rows, plot); err != nil {
					return err
				}
			}
			return evals.WriteRatios(cmd.OutOrStdout(), evals.Ratios(rows))
		},
	}
	defaults := append([]string{"manual", "tapenade", "codipack", "enzyme", "jax", "pytorch"}, ourNames()...)
	cmd.Flags().StringVar(&checkout.Python, "python", "python3", "`program` that runs Python, with numpy, scipy, pydantic and dataclasses-json")
	cmd.Flags().StringVar(&checkout.Codipack, "codipack", "", "clone of CoDiPack's repository (`folder`)")
	cmd.Flags().StringVar(&checkout.Enzyme, "enzyme", "", "`folder` of Enzyme's plug-in LLDEnzyme-19.so")
	cmd.Flags().StringArrayVar(&evalNames, "eval", nil, "`eval` to run, with arguments that select sizes; repeat it for more (default all)")
	cmd.Flags().StringSliceVar(&toolNames, "tool", defaults, "tools to run")
	program.FloatFlag(cmd, &checkout.MinSeconds, "min-seconds", 1, 0, 3600, "seconds for which a tool repeats each evaluation")
	program.DurationFlag(cmd, &checkout.Timeout, "timeout", 10*time.Minute, time.Second, 24*time.Hour, "longest time for an answer")
	cmd.Flags().StringVarP(&out, "out", "o", "", "CSV `file` to write all times to")
	cmd.Flags().BoolVar(&add, "add", false, "keep the rows of --out that are not measured again")
	cmd.Flags().StringVar(&plot, "plot", "", "`file` to draw the ratios of times to")
	return cmd
}

// ourTools are our tools of GradBench, with the arguments that choose them.
var ourTools = []struct {
	tool *gradbench.Tool
	args []string
}{
	{&gradbench.Revnum, nil},
	{&gradbench.RevnumMinors, []string{"--minors"}},
	{&gradbench.Revgen, []string{"--generated"}},
	{&gradbench.RevgenMinors, []string{"--generated", "--minors"}},
}

func ourNames() []string {
	var names []string
	for _, t := range ourTools {
		names = append(names, t.tool.Name)
	}
	return names
}

func chooseEvals(all []evals.Eval, names []string) ([]evals.Eval, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []evals.Eval
	for _, name := range names {
		words := strings.Fields(name)
		if len(words) == 0 || !slices.ContainsFunc(all, func(e evals.Eval) bool { return e.Name == words[0] }) {
			return nil, fmt.Errorf("--eval: GradBench has no eval %q", name)
		}
		chosen = append(chosen, evals.Eval{Name: words[0], Args: words[1:]})
	}
	return chosen, nil
}

// chooseTools returns the tools by their names. A tool that GradBench does not have says itself which
// of all evals it lacks.
func chooseTools(checkout *evals.Checkout, names, has []string) ([]evals.Tool, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var tools []evals.Tool
	for _, name := range names {
		if i := slices.Index(ourNames(), name); i >= 0 {
			command := append([]string{exe, "gradbench"}, ourTools[i].args...)
			tools = append(tools, evals.Tool{Name: name, Command: command, Evals: strings.Split(ourTools[i].tool.Modules(), ", ")})
			continue
		}
		if own, script, ok := strings.Cut(name, "="); ok {
			path, err := filepath.Abs(script)
			if err != nil {
				return nil, err
			}
			tools = append(tools, evals.Tool{Name: own, Command: []string{checkout.Python, path}, Evals: has})
			continue
		}
		tool, err := checkout.Tool(name)
		if err != nil {
			return nil, fmt.Errorf("--tool: %w", err)
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// measureEvals runs the evals with all tools that have them, in turn, gives found the rows of each, and
// prints why rows are missing or not valid: a line for each tool and reason, with the evals.
func measureEvals(ctx context.Context, cmd *cobra.Command, checkout *evals.Checkout, chosen []evals.Eval, tools []evals.Tool, found func([]evals.Row) error) error {
	bar := program.Bar(cmd.ErrOrStderr(), len(chosen)*len(tools)+1)
	defer func() { _ = bar.Finish() }()
	bar.Describe("building GradBench")
	if err := checkout.Build(ctx); err != nil {
		return err
	}
	_ = bar.Add(1)
	var failures []evals.Failure
	for _, e := range chosen {
		for _, t := range tools {
			bar.Describe(e.Name + " " + t.Name)
			if expected := t.Fails[e.Name]; expected != "" {
				failures = append(failures, evals.Failure{Tool: t.Name, Eval: e.Name, Reason: "not run, as GradBench expects the outcome " + expected})
			} else if slices.Contains(t.Evals, e.Name) {
				rows, failure, err := checkout.Run(ctx, e, t)
				if err != nil {
					return err
				}
				if err := found(rows); err != nil {
					return err
				}
				if failure != nil {
					failures = append(failures, *failure)
				}
			}
			_ = bar.Add(1)
		}
	}
	_ = bar.Clear() // for the lines that follow
	// The reasons of a tool that could not be built are alike.
	slices.SortStableFunc(failures, func(a, b evals.Failure) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Reason, b.Reason))
	})
	for len(failures) > 0 {
		f, names := failures[0], []string{}
		for len(failures) > 0 && failures[0].Tool == f.Tool && failures[0].Reason == f.Reason {
			names, failures = append(names, failures[0].Eval), failures[1:]
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s: %s\n", f.Tool, strings.Join(names, ", "), f.Reason)
	}
	return nil
}
