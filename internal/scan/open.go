package scan

import (
	"fmt"
	"os"
)

// Open opens a file for reading, and returns how many bytes it has, -1 where that
// is not known. Of a folder the error says what was expected.
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
