package command

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"

	"github.com/spf13/cobra"

	"revnum/cluster"
	"revnum/internal/jsonfile"
	shared "revnum/program"
)

// checkpointFlags are the flags for writing the state of a fit.
type checkpointFlags struct {
	path  string
	every int
}

func (f *checkpointFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "checkpoint", "", "`file` with the state of the fit; if it exists, the fit resumes from it")
	shared.IntFlag(cmd, &f.every, "every", "", 10, 1, shared.MaxIterations, "iterations between checkpoints")
}

// output returns the checkpoint as an output.
func (f *checkpointFlags) output() shared.Output {
	path := f.path
	if path == shared.Stdout {
		path = "./" + path // a file of this name: a checkpoint is read, too
	}
	return shared.Output{Flag: "checkpoint", Path: path}
}

// A checkpoint is the state S of a fit, with what the fit depends on.
type checkpoint[S any] struct {
	Fit   []Fact `json:"fit"`
	State S      `json:"state"`
}

// A Fact is something that a fit depends on: what it is, and its value.
type Fact [2]string

// version returns the version of the program: that of its module, which go build takes from
// git.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}

// Difference describes the first fact that differs. It returns an empty text if none does.
func Difference(want, found []Fact) string {
	for i := range max(len(want), len(found)) {
		switch {
		case i >= len(found):
			return fmt.Sprintf("%s: expected %s, found nothing", want[i][0], want[i][1])
		case i >= len(want) || want[i][0] != found[i][0]:
			return fmt.Sprintf("found %s: %s, expected nothing of the kind", found[i][0], found[i][1])
		case want[i] != found[i]:
			return fmt.Sprintf("%s: expected %s, found %s", want[i][0], want[i][1], found[i][1])
		}
	}
	return ""
}

// readCheckpoint returns the state in the file, on all ranks. It returns nil if there
// is no file, and an error if the state is of another fit.
func readCheckpoint[S any](r cluster.Reducer, f *checkpointFlags, fit []Fact) (*S, error) {
	if f.path == "" {
		return nil, nil
	}
	var text []byte
	var err error
	if r.Rank() == 0 {
		if text, err = jsonfile.Text(f.path, "a checkpoint"); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err := cluster.Agree(r, err); err != nil {
		return nil, err
	}
	if text, err = cluster.Share(r, text); err != nil || len(text) == 0 {
		return nil, err
	}
	var c checkpoint[S]
	if err := jsonfile.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("%s: expected a checkpoint: %w", f.path, err)
	}
	if d := Difference(fit, c.Fit); d != "" {
		return nil, fmt.Errorf("%s: a checkpoint of another fit: %s", f.path, d)
	}
	return &c.State, nil
}

// writeCheckpoint returns a function that writes every f.every-th state. If writing
// fails, the old file stays.
func writeCheckpoint[S any](f *checkpointFlags, fit []Fact) func(iteration int, state S) error {
	return func(iteration int, state S) error {
		if f.path == "" || iteration%f.every != 0 {
			return nil
		}
		return jsonfile.Write(f.path, checkpoint[S]{fit, state})
	}
}
