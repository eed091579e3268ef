package scan

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Open(dir, "a table"); err == nil || !strings.HasSuffix(err.Error(), ": is a folder, expected a table") {
		t.Errorf("a folder: %v", err)
	}
	path := filepath.Join(dir, "x")
	if _, _, err := Open(path, "a table"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("1 2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, size, err := Open(path, "a table")
	if err != nil || size != 4 {
		t.Fatalf("size %d (%v), want 4", size, err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); err != nil || string(text) != "1 2\n" {
		t.Errorf("holds %q (%v)", text, err)
	}
	if f, size, err := Open(os.DevNull, "a table"); err != nil || size != -1 {
		t.Errorf("a device: size %d (%v), want -1", size, err)
	} else {
		f.Close()
	}
}
