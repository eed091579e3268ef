package outfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// unfinished holds the temporary files that exist now. Its mutex is held during
// every creation, rename and removal, so that Abort misses none.
var unfinished struct {
	sync.Mutex
	files map[*os.File]bool
}

// Write calls write and makes the output the content of the file at path. If write
// or the system fails, the error names path, and the file is as it was before. If
// path names a device or a pipe, Write writes to it directly.
func Write(path string, write func(w io.Writer) error) error {
	if err := writeFile(path, write); err != nil {
		// The errors of package os name the temporary file.
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return fmt.Errorf("%s: cannot write: %w", path, err)
	}
	return nil
}

// WriteAll writes files by their names into the folder dir, each as Write does.
func WriteAll(dir string, files map[string]func(w io.Writer) error) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := Write(filepath.Join(dir, name), files[name]); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, write func(w io.Writer) error) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return errors.New("is a folder")
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return fill(f, write)
	}

	f, err := create(path)
	if err != nil {
		return err
	}
	end := os.Remove // unless all goes well, by a panic too
	defer func() {
		if ferr := finish(f, end); err == nil {
			err = ferr
		}
	}()
	if err := fill(f, write); err != nil {
		return err
	}
	end = func(tmp string) error {
		err := os.Rename(tmp, path)
		if err != nil {
			os.Remove(tmp)
		}
		return err
	}
	return nil
}

// create opens a new temporary file beside path.
func create(path string) (*os.File, error) {
	unfinished.Lock()
	defer unfinished.Unlock()
	for {
		tmp := fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32())
		f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if unfinished.files == nil {
			unfinished.files = make(map[*os.File]bool)
		}
		unfinished.files[f] = true
		return f, nil
	}
}

func fill(f *os.File, write func(w io.Writer) error) (err error) {
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// finish calls last, which renames or removes the temporary file f.
func finish(f *os.File, last func(tmp string) error) error {
	unfinished.Lock()
	defer unfinished.Unlock()
	delete(unfinished.files, f)
	return last(f.Name())
}

// Abort removes all unfinished files and blocks every later Write. Call it in a
// process that is about to exit, for example after an interrupt.
func Abort() {
	unfinished.Lock()
	for f := range unfinished.files {
		f.Close() // Windows removes no open file
		os.Remove(f.Name())
	}
}
