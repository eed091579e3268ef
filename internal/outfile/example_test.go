package outfile_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"revnum/internal/outfile"
)

func ExampleWrite() {
	dir, err := os.MkdirTemp("", "outfile")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	err = outfile.Write(filepath.Join(dir, "a.txt"), func(w io.Writer) error {
		fmt.Fprintln(w, "the first half")
		return errors.New("something went wrong")
	})
	fmt.Println(err != nil)
	entries, _ := os.ReadDir(dir)
	fmt.Println(len(entries), "files")
	// Output:
	// true
	// 0 files
}
