package revnum_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"revnum/optim"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
	"revnum/revmodels/ba"
	"revnum/revmodels/gmm"
	"revnum/revsparse"
)

// The examples below are those of the README, which TestDocuments sees to.

func Example_kernel() {
	w := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	x := mat.NewVecDense(2, []float64{5, 6})
	y, b := mat.NewVecDense(2, nil), mat.NewVecDense(2, nil)
	gw, gx, gb := mat.NewDense(2, 2, nil), mat.NewVecDense(2, nil), mat.NewVecDense(2, nil)
	gy := mat.NewVecDense(2, []float64{1, 0})

	y.Zero()                             // a kernel adds to what is in y
	k := revlinalg.NewAffine(y, w, x, b) // y += W·x + b, on gonum's storage
	k.Forward()
	fmt.Println(mat.Formatted(y.T()))
	k.Adjoint(revlinalg.NewAffine(gy, gw, gx, gb)) // y -= W·x + b, and gradients added
	fmt.Println(mat.Formatted(y.T()), mat.Formatted(gx.T()))

	k.Forward()
	k.Adjoint(revlinalg.Affine[float64]{Y: rev.ViewVec(gy), X: rev.ViewVec(gx)})
	fmt.Println(mat.Formatted(y.T()), mat.Formatted(gx.T()))
	// Output:
	// [17  39]
	// [0  0] [1  2]
	// [0  0] [2  4]
}

// net is the state of a program: the operands of all its kernels.
type net struct {
	W              *mat.Dense
	X, B, Y, Theta *mat.VecDense
	Loss           float64
}

func newNet() *net {
	return &net{
		W: mat.NewDense(3, 2, nil), X: mat.NewVecDense(2, nil), B: mat.NewVecDense(3, nil),
		Y: mat.NewVecDense(3, nil), Theta: mat.NewVecDense(3, nil),
	}
}

func newProgram() rev.Step[net] {
	prog := rev.Seq(
		rev.At(func(s *net) revlinalg.Affine[float64] {
			return revlinalg.NewAffine(s.Y, s.W, s.X, s.B) // y += W·x + b
		}),
		rev.At(func(s *net) revlinalg.Unitary[float64] {
			return revlinalg.NewUnitaryVec(s.Y, s.Theta) // y <- U(θ)·y
		}),
		rev.At(func(s *net) revlinalg.Norm2[float64] {
			return revlinalg.NewNorm2(&s.Loss, s.Y) // loss += ‖y‖
		}),
	)
	return prog
}

func TestProgram(t *testing.T) {
	s := newNet()
	for i := range 3 {
		s.W.SetRow(i, []float64{float64(i), 1})
		s.Theta.SetVec(i, 0.5)
		s.B.SetVec(i, -0.25)
	}
	s.X.SetVec(0, 2)
	revtest.Program(t, newProgram(), s)
}

func Example_program() {
	prog := newProgram()
	s := newNet()
	s.W.SetCol(0, []float64{3, 0, 4})
	s.X.SetVec(0, 2)

	g := rev.ZeroLike(s) // the cotangents of the state
	loss, err := rev.ValueGradient(prog, func(s *net) *float64 { return &s.Loss }, s, g)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("loss", loss, "gradient in x", mat.Formatted(g.X.T()))
	// Output:
	// loss 10 gradient in x [5  0]
}

func Example_train() {
	prog, s := newProgram(), newNet()
	s.W.SetCol(0, []float64{3, 0, 4})
	s.X.SetVec(0, 2)

	loss := &optim.Objective[net, float64]{
		Program: prog, State: s,
		Output: func(s *net) *float64 { return &s.Loss },
		Params: func(s *net) [][]float64 { return [][]float64{s.W.RawMatrix().Data, s.B.RawVector().Data} },
	}
	adam := &optim.Adam{Rate: optim.Cosine(0.1, 0, 100)}
	for range 100 {
		if _, err := loss.Step(adam); err != nil {
			log.Fatal(err)
		}
	}
	value, err := loss.Value()
	fmt.Println(value < 0.1, err)
	// Output: true <nil>
}

func Example_sparse() {
	// A chain of three springs that is held at one end, and pulled at the other.
	row, col, val := []int{0, 1, 1, 2, 2}, []int{0, 0, 1, 1, 2}, []float64{2, -1, 2, -1, 1}
	x, b := mat.NewVecDense(3, nil), mat.NewVecDense(3, []float64{0, 0, 1})
	gx, gb := mat.NewVecDense(3, []float64{0, 0, 1}), mat.NewVecDense(3, nil)

	a, err := revsparse.FromTriplets(3, 3, row, col, val) // the lower triangle is enough
	if err != nil {
		log.Fatal(err)
	}
	k := revsparse.NewCG(x, a, b) // x += A⁻¹·b
	if err := k.Forward(); err != nil {
		log.Fatal(err)
	}
	ga := a.With(make([]float64, a.NNZ())) // a gradient at the entries of A alone
	if err := k.Adjoint(revsparse.NewCG(gx, ga, gb)); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n%.3f\n", gb.RawVector().Data, ga.Data)
	// Output:
	// [1.000 2.000 3.000]
	// [-1.000 -4.000 -4.000 -12.000 -9.000]
}

func Example_sparseCSR() {
	x, y := mat.NewVecDense(3, []float64{1, 10, 100}), mat.NewVecDense(2, nil)
	gx, gy := mat.NewVecDense(3, nil), mat.NewVecDense(2, []float64{1, -1})

	m := sparse.NewDOK(2, 3) // of github.com/james-bowman/sparse
	m.Set(0, 0, 1)
	m.Set(0, 2, 2)
	m.Set(1, 1, 3)
	a := revsparse.ViewCSR(m.ToCSR()) // shares the storage of the CSR
	y.Zero()                          // the product is added
	k := revsparse.NewMul(y, a, x)    // y += A·x
	k.Forward()
	fmt.Println(mat.Formatted(y.T()))
	ga := a.With(make([]float64, a.NNZ()))
	k.Adjoint(revsparse.NewMul(gy, ga, gx))            // y -= A·x, and gradients added
	fmt.Println(mat.Formatted(revsparse.ToSparse(ga))) // a sparse.CSR again
	// Output:
	// [201   30]
	// ⎡  1    0  100⎤
	// ⎣  0  -10    0⎦
}

// points returns points around (0, 0) and (8, 8).
func points() *mat.Dense {
	rnd := rand.New(rand.NewPCG(1, 1))
	x := mat.NewDense(200, 2, nil)
	for i := range 200 {
		c := 8 * float64(i%2)
		x.SetRow(i, []float64{c + rnd.NormFloat64(), c + rnd.NormFloat64()})
	}
	return x
}

func Example_fit() {
	x := points() // any mat.Matrix, a point a row

	mixture, report, err := gmm.Fit(context.Background(), x, 2, nil)
	if err != nil {
		log.Fatal(err)
	}
	labels := mixture.Predict(x)

	fmt.Println(report.Starts[report.Best].Converged, labels[0] != labels[1], labels[0] == labels[2])
	// Output: true true true
}

func Example_optimize() {
	x := points()
	mixture, _, err := gmm.Fit(context.Background(), x, 2, &gmm.Options{MaxIter: 1})
	if err != nil {
		log.Fatal(err)
	}
	start := mixture.Params()

	model := gmm.NewModel(x, 2, gmm.Prior{}) // the negative log posterior: Func, Grad, Hess
	settings := &optimize.Settings{GradientThreshold: 1e-4}
	problem := optimize.Problem{Func: model.Func, Grad: model.Grad, Hess: model.Hess}
	result, err := optimize.Minimize(problem, start, settings, &optimize.Newton{})
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(result.F <= model.Func(start))
	// Output: true
}

// adjust solves the problem in one file, and writes the solution to another.
func adjust(problem, solved string) *ba.Report {
	p, err := ba.ReadFile(problem) // a BAL problem or a .out of Bundler, .gz and .bz2 too
	if err != nil {
		log.Fatal(err)
	}
	report, err := ba.Solve(context.Background(), p, &ba.Options{Loss: ba.Huber(1)}) // improves p in place
	if err != nil {
		log.Fatal(err)
	}
	if err := ba.WriteFile(solved, p); err != nil {
		log.Fatal(err)
	}
	return report
}

func Example_bundleAdjustment() {
	dir, err := os.MkdirTemp("", "ba")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	start, _, err := ba.Generate(&ba.GenerateOptions{Cameras: 6, Points: 100, Observations: 500, Noise: 0.5, Start: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	problem := filepath.Join(dir, "problem.txt")
	if err := ba.WriteFile(problem, start); err != nil {
		fmt.Println(err)
		return
	}

	report := adjust(problem, filepath.Join(dir, "solved.txt.gz"))
	fmt.Println(report.Status, report.Final < report.Initial/100)
	// Output: cost converged true
}

// TestDocuments compares what the documents show with code that is compiled and run.
func TestDocuments(t *testing.T) {
	flat := func(s string) string {
		var b strings.Builder
		for line := range strings.Lines(s) {
			b.WriteString(strings.TrimSpace(line) + "\n")
		}
		return b.String()
	}
	for document, sources := range map[string][]string{
		"README.md":       {"example_test.go", "cmd/revgen/internal/revgen/examples/points.go", "cmd/revgen/internal/revgen/examples/points_test.go"},
		"CONTRIBUTING.md": {"rev/revtest/example_logistic_test.go", "rev/revtest/squares_test.go", "cmd/revgen/internal/revgen/examples/norm2.go", "cmd/revgen/internal/revgen/examples/norm2_test.go"},
	} {
		shown, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		var code []byte
		for _, source := range sources {
			text, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			code = append(code, text...)
		}
		blocks := strings.Split(string(shown), "```go\n")[1:]
		if len(blocks) == 0 {
			t.Errorf("%s shows no Go", document)
		}
		for _, b := range blocks {
			b, _, _ = strings.Cut(b, "```")
			if !strings.Contains(flat(string(code)), flat(b)) {
				t.Errorf("%s lack what %s shows:\n%s", sources, document, b)
			}
		}
	}
}
