package dataset_test

import (
	"fmt"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"revnum/program/dataset"
)

func ExampleLoad() {
	dir, err := os.MkdirTemp("", "dataset")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "points.csv")
	if err := os.WriteFile(path, []byte("width;height\n1;2.5\n3;4\n"), 0o666); err != nil {
		fmt.Println(err)
		return
	}
	t, err := dataset.Load(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Names)
	fmt.Println(mat.Formatted(t.X))
	// Output:
	// [width height]
	// ⎡  1  2.5⎤
	// ⎣  3    4⎦
}
