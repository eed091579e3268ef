package kernels_test

import (
	"testing"

	"revnum/cuda/internal/ptx"
	"revnum/cuda/kernels"
)

// TestFile finds the file of each kernel of each file. Package cu passes 8 bytes for a parameter.
func TestFile(t *testing.T) {
	files, err := kernels.PTX.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := kernels.PTX.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		m, err := ptx.Parse(f.Name(), string(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Kernels()) == 0 {
			t.Errorf("%s has no kernels", f.Name())
		}
		for _, k := range m.Kernels() {
			if got := kernels.File(k.Name); got != f.Name() {
				t.Errorf("kernel %s is in %q, want %q", k.Name, got, f.Name())
			}
			for i, size := range k.Params {
				if size != 8 {
					t.Errorf("parameter %d of kernel %s has %d bytes, want 8", i, k.Name, size)
				}
			}
		}
	}
	if got := kernels.File("none"); got != "" {
		t.Errorf("a kernel that is not there is in %q", got)
	}
}
