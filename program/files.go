package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"revnum/internal/outfile"
	"revnum/revmodels/ba"
)

// Stdout is the path of standard output.
const Stdout = "-"

// An Output is a file that a command writes: the path that the user gave to a flag. An empty
// path means no file.
type Output struct{ Flag, Path string }

// CheckOutputs returns an error if an output is the same file as an input or as another output,
// by any name, or if it cannot be written. Commands call it before they read and work.
func CheckOutputs(inputs []string, outputs ...Output) error {
	for i, out := range outputs {
		if out.Path == "" {
			continue
		}
		for _, in := range inputs {
			if same(in, out.Path) {
				return fmt.Errorf("--%s: %s is an input: it would be overwritten", out.Flag, out.Path)
			}
		}
		for _, other := range outputs[:i] {
			if other.Path != "" && same(other.Path, out.Path) {
				return fmt.Errorf("--%s: expected another file than that of --%s, found %s", out.Flag, other.Flag, out.Path)
			}
		}
		if err := checkWritable(out.Path); err != nil {
			return fmt.Errorf("--%s: %w", out.Flag, err)
		}
	}
	return nil
}

// same reports whether two paths name one file, or would once it is written. Devices and pipes
// keep nothing that could be lost.
func same(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	switch {
	case errA == nil && errB == nil:
		return os.SameFile(infoA, infoB) && infoA.Mode().IsRegular()
	case errA == nil || errB == nil:
		return false
	}
	return sameName(filepath.Base(a), filepath.Base(b)) && (filepath.Dir(a) == filepath.Dir(b) || sameFolder(filepath.Dir(a), filepath.Dir(b)))
}

// sameName reports whether two names in a folder are those of one file. Windows and macOS do not
// tell capital letters from small ones.
func sameName(a, b string) bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

func sameFolder(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// checkWritable returns an error if a file cannot be written at path.
func checkWritable(path string) error {
	if path == Stdout {
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // who reads from a pipe would see its end
	}
	stop := errors.New("not now")
	if err := outfile.Write(path, func(io.Writer) error { return stop }); !errors.Is(err, stop) {
		return err
	}
	return nil
}

// WriteOutput writes to the file at path as outfile.Write does, or to the command's standard
// output if path is Stdout.
func WriteOutput(cmd *cobra.Command, path string, write func(io.Writer) error) error {
	if path == Stdout {
		return write(cmd.OutOrStdout())
	}
	return outfile.Write(path, write)
}

// WriteBAL writes p as ba.WriteFile does, or to the command's standard output if path is Stdout.
func WriteBAL(cmd *cobra.Command, path string, p *ba.Problem) error {
	if path == Stdout {
		return ba.WriteBAL(cmd.OutOrStdout(), p)
	}
	return ba.WriteFile(path, p)
}

// WriteJSON writes v as jsonfile.Write does, or to the command's standard output if path is
// Stdout.
func WriteJSON(cmd *cobra.Command, path string, v any) error {
	return WriteOutput(cmd, path, func(w io.Writer) error { return json.NewEncoder(w).Encode(v) })
}

// Messages returns where a command writes its messages: standard output, or standard error if
// one of the outputs goes to standard output.
func Messages(cmd *cobra.Command, outputs ...string) io.Writer {
	if slices.Contains(outputs, Stdout) {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}

// MakeFolder makes sure that there is a folder at path. Its parent must exist, so that
// a mistyped path does not make folders.
func MakeFolder(path string) error {
	if path == Stdout {
		return errors.New("expected a folder, found - for standard output")
	}
	err := os.Mkdir(path, 0o777)
	if err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: expected a folder", path)
	}
	return err
}
