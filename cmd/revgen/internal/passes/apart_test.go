package passes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const apartSource = `package p

import "revnum/rev"

// RBFSum is the kernel
//
//	Out += Σ x_i.
type RBFSum[T rev.Float] struct {
	Out *T            ` + "`rev:\"acc\"`" + `
	X   rev.Vector[T] ` + "`rev:\"in\" shape:\"n\"`" + `
}

// rbfSumRun is Run of RBFSum. It returns no error.
func rbfSumRun[T rev.Float](k *RBFSum[T], p *rev.Pass[RBFSum[T]]) error { return nil }

// rbfSumRunChecked is RunChecked of RBFSum. It finds Out.
func rbfSumRunChecked[T rev.Float](k *RBFSum[T], back bool) error { return nil }
`

// A kernel whose Run is a function gets methods that call functions over each type of numbers.
func TestApart(t *testing.T) {
	file := func(source string) (string, error) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := File(dir, false)
		return string(got), err
	}
	got, err := file(apartSource)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`
// Run implements rev.Kernel. It returns no error.
func (k RBFSum[T]) Run(p rev.Pass[RBFSum[T]]) error {
	return rbfSumCall(passkind.Checked+passkind.Of[T](), unsafe.Pointer(&k), unsafe.Pointer(&p), nil, nil)
}
`, `
//go:noinline
func rbfSumCall(kind passkind.Kind, k, g, t, gt unsafe.Pointer) error {
	switch kind {
	case passkind.Forward + passkind.Float64:
		return rbfSumRunForward((*RBFSum[float64])(k))
	case passkind.Forward + passkind.Float32:
		return rbfSumRunForward((*RBFSum[float32])(k))
	case passkind.Inverse + passkind.Float64:
`, `
	case passkind.Checked + passkind.Float32:
		return rbfSumRun((*RBFSum[float32])(k), (*rev.Pass[RBFSum[float32]])(g))
	}
	panic("no such numbers")
}
`, `
func rbfSumRunAdjoint[T rev.Float](k, g *RBFSum[T]) error {
	rbfSumCheck(k, g, nil)
	return rbfSumRun(k, &rev.Pass[RBFSum[T]]{Back: true, Adjoint: true, G: *g})
}
`, `
// RunChecked implements rev.Checker. It finds Out.
func (k RBFSum[T]) RunChecked(back bool) error {
	return rbfSumCallChecked(passkind.Of[T](), unsafe.Pointer(&k), back)
}
`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no\n%s\nin\n%s", want, got)
		}
	}
	if strings.Contains(got, "fixed") {
		t.Error("rev.Float allows no fixed-point numbers")
	}
	if strings.Contains(got, "InstanceOf") {
		t.Error("a table that nobody asked for")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(apartSource), 0o666); err != nil {
		t.Fatal(err)
	}
	want := `
//go:linkname instances
func instances() []byname.Instance {
	return []byname.Instance{
		byname.InstanceOf[RBFSum[float64]](),
		byname.InstanceOf[RBFSum[float32]](),
	}
}
`
	if got, err := File(dir, true); err != nil || !strings.Contains(string(got), want) {
		t.Errorf("%v, no\n%s\nin\n%s", err, want, got)
	}
	for source, want := range map[string]string{
		strings.ReplaceAll(apartSource, "rev.Float", "~float64"): "may allow any types",
		strings.ReplaceAll(apartSource, "[T rev.Float]", ""):     "not generic",
		apartSource + "\nfunc rbfSumRunAdjoint() {}":             "rbfSumRunAdjoint is the name",
	} {
		got, err := file(source)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q\n%s", err, want, got)
		}
	}
	if got, err := file(strings.ReplaceAll(apartSource, "k *RBFSum[T]", "n int")); got != "" || err != nil {
		t.Errorf("functions of a number are taken for those of a kernel: %v\n%s", err, got)
	}
}
