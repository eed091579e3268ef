package scan_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"revnum/internal/scan"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := scan.Open(dir, "a table"); err == nil || !strings.HasSuffix(err.Error(), ": is a folder, expected a table") {
		t.Errorf("a folder: %v", err)
	}
	path := filepath.Join(dir, "x")
	if _, _, err := scan.Open(path, "a table"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("1 2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, size, err := scan.Open(path, "a table")
	if err != nil || size != 4 {
		t.Fatalf("size %d (%v), want 4", size, err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); err != nil || string(text) != "1 2\n" {
		t.Errorf("holds %q (%v)", text, err)
	}
	if f, size, err := scan.Open(os.DevNull, "a table"); err != nil || size != -1 {
		t.Errorf("a device: size %d (%v), want -1", size, err)
	} else {
		f.Close()
	}
}

// TestUncompress checks each form against the text that it is of. The bzip2
// stream is that of the program bzip2.
func TestUncompress(t *testing.T) {
	const text = "1 2\n"
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWX30pm0AAAFYAAAQQAAwACAAIZpoM00XPF3JFOFCQffSmbQ=")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"plain": text, "gzip": z.String(), "bzip2": string(b)} {
		r, err := scan.Uncompress(strings.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != text {
			t.Errorf("%s: %q (%v)", name, got, err)
		}
	}
	if _, err := scan.Uncompress(strings.NewReader("\x1f\x8bnot gzip")); err == nil {
		t.Error("no error for what only begins as gzip does")
	}
	if r, err := scan.Uncompress(strings.NewReader("")); err != nil {
		t.Error(err)
	} else if _, err := r.ReadByte(); err != io.EOF {
		t.Errorf("nothing: %v", err)
	}
}
