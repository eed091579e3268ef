package evals

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"revnum/benchmarks/internal/machine"
)

// A Checkout is a clone of GradBench's repository, whose evals judge tools.
type Checkout struct {
	Dir    string
	Python string // runs the evals, and tools in Python

	// Codipack is a clone of CoDiPack's repository, and Enzyme the folder of Enzyme's plug-in for
	// the linker. The tools are built with what the system has if they are empty.
	Codipack, Enzyme string

	MinSeconds float64       // for which a tool repeats an evaluation
	Timeout    time.Duration // for an answer
}

// An Eval is an eval by its name, with arguments that select sizes.
type Eval struct {
	Name string
	Args []string
}

// A Tool is a tool by its name.
type Tool struct {
	Name    string
	Command []string
	Evals   []string          // that it has
	Fails   map[string]string // what GradBench expects of the others that it has
}

// A Failure says why a tool lacks some rows of an eval.
type Failure struct{ Tool, Eval, Reason string }

const packages = "python/gradbench/gradbench" // of the evals and of the tools in Python

// Evals returns the evals of the checkout.
func (c *Checkout) Evals() ([]Eval, error) {
	entries, err := os.ReadDir(filepath.Join(c.Dir, "evals"))
	if err != nil {
		return nil, fmt.Errorf("%s is no clone of GradBench's repository: %w", c.Dir, err)
	}
	var evals []Eval
	for _, e := range entries {
		evals = append(evals, Eval{Name: e.Name()})
	}
	return evals, nil
}

// Tool returns a tool of GradBench. It must be one in C++ or in Python: only these run outside of
// their images by one command.
func (c *Checkout) Tool(name string) (Tool, error) {
	t := Tool{Name: name, Command: []string{c.Python, packages + "/cpp.py", name}, Fails: map[string]string{}}
	text, err := os.ReadFile(filepath.Join(c.Dir, "tools", name, "evals.txt"))
	if err != nil {
		return t, fmt.Errorf("%s is no tool of GradBench: %w", name, err)
	}
	script := packages + "/tools/" + name + "/run.py"
	if exists(filepath.Join(c.Dir, script)) {
		t.Command = []string{c.Python, script}
	} else if !exists(filepath.Join(c.Dir, "tools", name, "Makefile")) {
		return t, fmt.Errorf("%s is neither in C++ nor in Python", name)
	}
	for line := range strings.Lines(string(text)) {
		if eval, outcome, fails := strings.Cut(strings.TrimSpace(line), " "); fails {
			t.Fails[eval] = outcome
		} else {
			t.Evals = append(t.Evals, eval)
		}
	}
	return t, nil
}

// environment returns the environment of all programs. Temporary files go to folder.
func (c *Checkout) environment(folder string) []string {
	// A later value hides an earlier one.
	add := func(env []string, name string, paths ...string) []string {
		paths = slices.DeleteFunc(append(paths, os.Getenv(name)), func(p string) bool { return p == "" })
		return append(env, name+"="+strings.Join(paths, string(os.PathListSeparator)))
	}
	env := append(machine.Environ(1), "TMPDIR="+folder)
	env = add(env, "PYTHONPATH", filepath.Join(c.Dir, "python/gradbench"))
	headers := []string{filepath.Join(c.Dir, "cpp"), "/usr/include/nlohmann"} // json.hpp, from make -C cpp or from Debian
	if c.Codipack != "" {
		headers = append(headers, filepath.Join(c.Codipack, "include"))
	}
	env = add(env, "CPLUS_INCLUDE_PATH", headers...)
	if c.Enzyme != "" {
		env = append(env, "ENZYME_LIB="+c.Enzyme)
	}
	return env
}

// Build builds GradBench's command, and its tool manual, with whose answers the evals compare.
func (c *Checkout) Build(ctx context.Context) error {
	for _, args := range [][]string{
		{"cargo", "build", "--locked", "--package=gradbench", "--profile=" + profile, "--target-dir=target"},
		{"make", "-C", "tools/manual", "all"},
	} {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = c.Dir, c.environment(os.TempDir()), wait
		out, err := cmd.CombinedOutput()
		if len(out) == 0 && err != nil {
			return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, reason(string(out)))
		}
	}
	return nil
}

const (
	profile = "release-with-debug" // which GradBench's own script builds
	wait    = 10 * time.Second     // for a program to end after an interrupt
)

// Run runs an eval with a tool by GradBench's command, and returns a row for each evaluation that
// the eval asked for. The failure says why rows lack times or are missing, if any do.
func (c *Checkout) Run(ctx context.Context, eval Eval, tool Tool) (rows []Row, failure *Failure, err error) {
	folder, err := os.MkdirTemp("", "evals")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	script := packages + "/evals/" + eval.Name + "/run.py"
	text, err := os.ReadFile(filepath.Join(c.Dir, script))
	if err != nil {
		return nil, nil, err
	}
	minSeconds := 0. // each evaluation is run once
	judge := append([]string{c.Python, script}, eval.Args...)
	if bytes.Contains(text, []byte("--min-seconds")) {
		minSeconds = c.MinSeconds
		judge = append(judge, "--min-seconds", strconv.FormatFloat(minSeconds, 'g', -1, 64))
	}
	log, crash := filepath.Join(folder, "log.jsonl"), filepath.Join(folder, "crash")
	// GradBench's command does not look at the exit status of the eval.
	judge = []string{"sh", "-c", quote(judge) + " || echo $? >" + quote([]string{crash})}
	cmd := exec.CommandContext(ctx, filepath.Join(c.Dir, "target", profile, "gradbench"), "run", "--eval", quote(judge),
		"--tool", quote(tool.Command), "--output", log, "--timeout", strconv.Itoa(int(c.Timeout.Seconds())))
	// On an interrupt the command ends the eval and the tool.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.Dir, c.environment(folder), wait
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, nil, err
	}
	f, err := os.Open(log)
	if err != nil {
		return nil, nil, fmt.Errorf("gradbench run: %w: %s", err, reason(stderr.String()))
	}
	defer f.Close()
	rows, why, err := read(f)
	if err != nil {
		return nil, nil, fmt.Errorf("%s with %s: the log of gradbench run: %w", eval.Name, tool.Name, err)
	}
	for i := range rows {
		rows[i].Eval, rows[i].Tool, rows[i].MinSeconds = eval.Name, tool.Name, minSeconds
	}
	const timeout = 5 // the exit status of gradbench run for it
	switch {
	case why != "":
	case cmd.ProcessState.ExitCode() == timeout:
		why = fmt.Sprintf("no answer in %v", c.Timeout)
	case exit != nil:
		why = "the tool ended: " + reason(stderr.String())
	case exists(crash):
		why = "the eval ended early: " + reason(stderr.String())
	default:
		return rows, nil, nil
	}
	return rows, &Failure{tool.Name, eval.Name, why}, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// quote joins words for a shell, each in quotes.
func quote(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

// reason returns the line of a program's output that says best why the program failed: the first
// with an error, or else the last.
func reason(text string) string {
	last := "no reason given"
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.Contains(strings.ToLower(line), "error:") {
			return line
		}
		if line != "" {
			last = line
		}
	}
	return last
}

// The outcomes of an evaluation.
const (
	valid    = "valid"    // by the eval
	invalid  = "invalid"  // by the eval
	unjudged = "unjudged" // the eval ended before it judged
	failed   = "failed"   // the tool said so
	silent   = "silent"   // the tool ended, or took too long
)

// brief is a JSON value in its text, if that is short.
type brief string

// UnmarshalJSON keeps the text of a short value.
func (b *brief) UnmarshalJSON(text []byte) error {
	if len(text) < 32 {
		*b = brief(text)
	}
	return nil
}

// An entry is a line of a log: a message of the eval, or the answer of the tool.
type entry struct {
	Message *struct {
		ID                          int64
		Kind, Function, Description string
		Input                       brief
		Of                          int64 // of an analysis: which message it judges
		Valid                       bool
		Error                       string
	}
	Response *struct {
		Success bool
		Timings []struct {
			Name        string
			Nanoseconds float64
		}
		Error string
	}
}

// read reads the evaluations in a log. why says what the tool or the eval said first of one that is
// not valid. The log of a run that ended early may lack the last answer, or the end of its last line.
func read(r io.Reader) (rows []Row, why string, err error) {
	d := json.NewDecoder(r)
	index := map[int64]int{} // of the row by the id of the message
	for {
		var question, answer entry
		if err := d.Decode(&question); err != nil {
			return rows, why, end(err)
		}
		m := question.Message
		if m == nil {
			return nil, "", errors.New("expected a message of the eval")
		}
		switch i, ok := index[m.Of]; {
		case m.Kind == "evaluate":
			index[m.ID] = len(rows)
			rows = append(rows, Row{Function: m.Function, Size: cmp.Or(m.Description, string(m.Input)), Outcome: silent})
		case m.Kind == "analysis" && ok && m.Valid:
			rows[i].Outcome = valid
		case m.Kind == "analysis" && ok:
			rows[i].Outcome = invalid
			why = cmp.Or(why, fmt.Sprintf("%s %s is invalid: %s", rows[i].Function, rows[i].Size, first(m.Error)))
		}
		if err := d.Decode(&answer); err != nil {
			return rows, why, end(err)
		}
		a := answer.Response
		if a == nil {
			return nil, "", errors.New("expected an answer of the tool")
		}
		switch {
		case m.Kind == "define" && !a.Success:
			why = cmp.Or(why, reason(a.Error))
		case m.Kind == "evaluate" && !a.Success:
			rows[len(rows)-1].Outcome = failed
			why = cmp.Or(why, fmt.Sprintf("%s %s: %s", m.Function, rows[len(rows)-1].Size, reason(a.Error)))
		case m.Kind == "evaluate":
			row := &rows[len(rows)-1]
			row.Outcome = unjudged
			for _, t := range a.Timings {
				if t.Name == "evaluate" {
					row.add(t.Nanoseconds)
				}
			}
		}
	}
}

// first returns the first line of a text.
func first(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// end returns nil if the error says that the log ends.
func end(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
