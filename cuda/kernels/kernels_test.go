package kernels_test

import (
	"testing"

	"revnum/cuda/internal/ptx"
	"revnum/cuda/kernels"
)

// TestFile finds the file and the source of each kernel of each file. Package cu passes 8 bytes for a parameter.
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
			switch own, err := ptx.Parse(k.Name, kernels.Source(k.Name)); {
			case err != nil:
				t.Error(err)
			case len(own.Kernels()) != 1 || own.Kernels()[0].Name != k.Name:
				t.Errorf("the source of %s has %d kernels", k.Name, len(own.Kernels()))
			}
			for i, size := range k.Params {
				if size != 8 {
					t.Errorf("parameter %d of kernel %s has %d bytes, want 8", i, k.Name, size)
				}
			}
		}
	}
	if file, text := kernels.File("none"), kernels.Source("none"); file != "" || text != "" {
		t.Errorf("a kernel that is not there is in %q: %q", file, text)
	}
}
