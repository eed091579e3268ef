package outfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func write(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// wantFolder checks that dir holds exactly the given files.
func wantFolder(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("folder holds %q, want %q", got, want)
	}
}

func wantContent(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v, want %q", path, got, err, want)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	for _, s := range []string{"first", "second, longer", ""} {
		if err := Write(path, write(s)); err != nil {
			t.Fatal(err)
		}
		wantContent(t, path, s)
	}
	wantFolder(t, dir, "a.txt")
}

func TestWriteFollowsSymlink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "a.txt"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if err := Write(link, write("new")); err != nil {
		t.Fatal(err)
	}
	wantContent(t, target, "new")
	wantFolder(t, dir, "a.txt", "link")
}

func TestWriteFailureLeavesOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := Write(path, write("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left")
	err := Write(path, func(w io.Writer) error {
		// More than any buffer, so that a part reaches the temporary file.
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return full
	})
	if !errors.Is(err, full) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one that wraps %v and names the file", err, full)
	}
	wantContent(t, path, "old")
	wantFolder(t, dir, "a.txt")
}

func TestWriteNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "a.txt")
	err := Write(path, write("x"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("error %v, want one that says that the folder of %s does not exist", err, path)
	}
}

func TestWriteFolder(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, write("x")); err == nil {
		t.Error("no error from writing to a folder")
	}
	wantFolder(t, dir)
}

// TestWriteFull writes to a device that is always full, which is also a file
// that must not be replaced by a regular one.
func TestWriteFull(t *testing.T) {
	const dev = "/dev/full"
	if _, err := os.Stat(dev); err != nil {
		t.Skip(err)
	}
	if err := Write(dev, write("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want %v", err, syscall.ENOSPC)
	}
	info, err := os.Stat(dev)
	if err != nil || info.Mode().IsRegular() {
		t.Errorf("%s was replaced: %v, %v", dev, info, err)
	}
}

func TestWritePanicLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	func() {
		defer func() { _ = recover() }()
		_ = Write(filepath.Join(dir, "a.txt"), func(io.Writer) error { panic("x") })
	}()
	wantFolder(t, dir)
}

func TestAbort(t *testing.T) {
	dir := t.TempDir()
	begun, aborted, result := make(chan bool), make(chan bool), make(chan error)
	go func() {
		result <- Write(filepath.Join(dir, "a.txt"), func(w io.Writer) error {
			begun <- true
			<-aborted
			_, err := w.Write(make([]byte, 1<<20))
			return err
		})
	}()
	<-begun
	Abort()
	wantFolder(t, dir)
	unfinished.Unlock() // this process goes on
	aborted <- true
	if err := <-result; !errors.Is(err, fs.ErrClosed) {
		t.Errorf("error %v, want %v", err, fs.ErrClosed)
	}
	wantFolder(t, dir)
}
