// Package jsonfile keeps a value in a file, as JSON.
package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"revnum/internal/outfile"
)

// Write writes v to the file at path. Afterwards the file is either whole or as it
// was before.
func Write(path string, v any) error {
	return outfile.Write(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(v) })
}

// Indented returns a function that writes v with an indent of two spaces.
func Indented(v any) func(w io.Writer) error {
	return func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
}

// maxSize is the largest size of a file that is read.
const maxSize = 1 << 30

// Text returns the content of the file at path, which must be a regular file of at most 1 GiB: a
// device may have no end. want says what the file should hold.
func Text(path, want string) ([]byte, error) {
	info, err := os.Stat(path) // to open a pipe may wait
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: expected a regular file with %s", path, want)
	case info.Size() > maxSize:
		return nil, fmt.Errorf("%s: expected %s of at most 1 GiB, found %d bytes", path, want, info.Size())
	}
	return os.ReadFile(path)
}

// Read reads a value from the file at path, as Text does. Its errors name the file, and the
// line that is not JSON. want says what the file should hold.
func Read[V any](path, want string) (*V, error) {
	b, err := Text(path, want)
	if err != nil {
		return nil, err
	}
	var v *V
	err = Unmarshal(b, &v)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(b[:min(int(syntax.Offset), len(b))], []byte("\n"))
		return nil, fmt.Errorf("%s:%d: expected %s: %w", path, line, want, err)
	case err != nil:
		return nil, fmt.Errorf("%s: expected %s: %w", path, want, err)
	case v == nil:
		return nil, fmt.Errorf("%s: expected %s, found null", path, want)
	}
	return v, nil
}
