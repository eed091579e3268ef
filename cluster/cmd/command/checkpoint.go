package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"revnum/cluster"
	"revnum/internal/jsonfile"
)

// checkpointFlags are the flags for writing the state of a fit.
type checkpointFlags struct {
	path  string
	every int
}

func (f *checkpointFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "checkpoint", "", "`file` with the state of the fit; if it exists, the fit resumes from it")
	cmd.Flags().IntVar(&f.every, "every", 10, "iterations between checkpoints")
}

// A checkpoint is the state S of a fit, with a text that describes the fit.
type checkpoint[S any] struct {
	Fit   string `json:"fit"`
	State S      `json:"state"`
}

// readCheckpoint returns the state in the file, on all ranks. It returns nil if there
// is no file.
func readCheckpoint[S any](r cluster.Reducer, f *checkpointFlags, fit string) (*S, error) {
	if f.every < 1 {
		return nil, fmt.Errorf("--every: expected at least 1, found %d", f.every)
	}
	if f.path == "" {
		return nil, nil
	}
	var text []byte
	var err error
	if r.Rank() == 0 {
		if text, err = os.ReadFile(f.path); errors.Is(err, fs.ErrNotExist) {
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
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("%s: expected a checkpoint: %w", f.path, err)
	}
	if c.Fit != fit {
		return nil, fmt.Errorf("%s: a checkpoint of another fit: expected %q, found %q", f.path, fit, c.Fit)
	}
	return &c.State, nil
}

// writeCheckpoint returns a function that writes every f.every-th state. If writing
// fails, the old file stays.
func writeCheckpoint[S any](f *checkpointFlags, fit string) func(iteration int, state S) error {
	return func(iteration int, state S) error {
		if f.path == "" || iteration%f.every != 0 {
			return nil
		}
		return jsonfile.Write(f.path, checkpoint[S]{fit, state})
	}
}
