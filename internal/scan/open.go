package scan

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"fmt"
	"io"
	"os"
)

// Open opens a file for reading. It returns the number of bytes, or -1 if that is
// not known. If path is a folder, the error says what was expected.
func Open(path, expected string) (f *os.File, size int64, err error) {
	if f, err = os.Open(path); err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	switch {
	case err == nil && info.IsDir():
		f.Close()
		return nil, 0, fmt.Errorf("%s: is a folder, expected %s", path, expected)
	case err == nil && info.Mode().IsRegular():
		return f, info.Size(), nil
	}
	return f, -1, nil
}

// Uncompress returns a reader of r. It uncompresses r if r begins as gzip or bzip2
// files do. The error is that of the beginning of a gzip stream.
func Uncompress(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	switch start, _ := b.Peek(3); {
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, err
		}
		return bufio.NewReader(z), nil
	case bytes.HasPrefix(start, []byte("BZh")):
		return bufio.NewReader(bzip2.NewReader(b)), nil
	}
	return b, nil
}
