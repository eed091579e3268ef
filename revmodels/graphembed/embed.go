package graphembed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"revnum/internal/objective"
	"revnum/internal/parallel"
	"revnum/optim"
	"revnum/revmodels/graphembed/internal/pairs"
	"revnum/trust"
)

// Method is a way to minimise the loss.
type Method int

// The methods of Embed.
const (
	Newton Method = iota // in a trust region, see package trust
	LBFGS                // of gonum/optimize
	Adam                 // first-order, with steps of Options.Rate
)

var methodNames = [...]string{"Newton", "L-BFGS", "Adam"}

// String returns the name of the method.
func (m Method) String() string { return objective.Name(m, methodNames[:]) }

// DefaultMargin is the margin of the loss if Options.Margin is 0.
const DefaultMargin = 0.1

// Options say how to embed a graph. The zero value of each field stands for a
// default.
type Options struct {
	Method Method

	// Fixed is the number of vertices that stay where they are. These are the first
	// vertices. They stay at the rows of FixedAt, or at their random start if FixedAt
	// is nil.
	Fixed   int
	FixedAt mat.Matrix

	// Margin is the margin of the loss. It is DefaultMargin if it is 0.
	Margin float64

	// Starts is the number of random starts, 10 if it is 0. A start draws all
	// coordinates from the normal distribution with standard deviation Spread. Spread
	// is 1 if it is 0.
	Starts int
	Spread float64

	// Source draws the starts. If it is nil, the starts are the same for each call.
	Source rand.Source

	// Target is the loss at which a start ends early. It is 1e-24 if it is 0, and there
	// is no target if it is negative.
	Target float64

	// MaxIter is the largest number of iterations of a start. If it is 0, Newton has
	// 100 Hessians, L-BFGS 1000 iterations, and Adam 5000 steps.
	MaxIter int

	// Rate is the size of Adam's steps. It is 0.01 if it is 0.
	Rate float64

	// Objective has the losses of the starts computed elsewhere, such as on a GPU, instead of
	// by Model. It is called once for each start that has a free vertex. Starts may run at the
	// same time.
	Objective func(m *Model) (Objective, error)

	Workers int // goroutines to use; 0 means GOMAXPROCS
}

// Start is the result of one start.
type Start struct {
	Loss       float64
	Iterations int // Hessians (Newton), iterations (L-BFGS) or steps (Adam)
	Err        error
}

// Class describes the distances of a kind of pairs.
type Class struct {
	Pairs     int
	Mean      float64
	Deviation float64 // sample standard deviation
	Min, Max  float64
}

// Embedding is the best embedding of all starts.
type Embedding struct {
	X    *mat.Dense // row i is vertex i; nil if the graph has no vertices
	Loss float64

	Connected, Apart Class // distances of the connected pairs and of the others

	Best   int     // index of the start that gave X
	Starts []Start // all starts
}

// Embed looks for positions of the vertices of g in k dimensions. All connected vertices
// should have the same distance, and all others should have another, larger distance.
// Embed minimises Loss, which is then 0 up to rounding.
//
// The result depends on the arguments alone, not on the number of workers. FixedAt affects
// only the fixed vertices. If no vertex is free, the result is that of the fixed vertices,
// without a start. A nil opts means the defaults.
//
// Embed returns an error that says which argument is wrong: fewer than one dimension, more
// fixed vertices than there are, FixedAt of a wrong shape or not finite, or negative
// options. If all starts fail, it returns an error that wraps theirs.
//
// When ctx is done, the starts end where they are. Starts that have not begun stay at their
// random positions. Embed then returns the best embedding and the error of ctx.
func Embed(ctx context.Context, g *Graph, k int, opts *Options) (*Embedding, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if err := o.fill(g, k); err != nil {
		return nil, err
	}
	if g.n == 0 {
		return &Embedding{}, nil
	}

	source := o.Source
	if source == nil {
		source = rand.NewPCG(1, 1)
	}
	s := &search{ctx: ctx, graph: g, k: k, options: o, starts: make([]Start, o.Starts), x: make([]*mat.Dense, o.Starts)}
	rnd := rand.New(source)
	for i := range s.x {
		s.x[i] = mat.NewDense(g.n, k, nil)
		data := s.x[i].RawMatrix().Data
		for c := range data {
			data[c] = o.Spread * rnd.NormFloat64()
		}
		if o.FixedAt != nil {
			s.x[i].Slice(0, o.Fixed, 0, k).(*mat.Dense).Copy(o.FixedAt)
		}
	}
	parallel.Run(parallel.Workers(o.Workers), o.Starts, s)

	best, errs := -1, make([]error, 0, o.Starts)
	for i, start := range s.starts {
		errs = append(errs, start.Err)
		if !math.IsNaN(start.Loss) && (best < 0 || start.Loss < s.starts[best].Loss) {
			best = i
		}
	}
	if best < 0 {
		return nil, fmt.Errorf("graphembed: no start has a loss that is a number: %w", errors.Join(errs...))
	}
	e := &Embedding{X: s.x[best], Loss: s.starts[best].Loss, Best: best, Starts: s.starts}
	e.Connected, e.Apart = Classes(g, e.X)
	return e, ctx.Err()
}

// fill checks the options and fills in the defaults.
func (o *Options) fill(g *Graph, k int) error {
	switch {
	case k < 1:
		return fmt.Errorf("graphembed: %d dimensions, want 1 or more", k)
	case o.Fixed < 0 || o.Fixed > g.n:
		return fmt.Errorf("graphembed: %d fixed vertices, want between 0 and the graph's %d", o.Fixed, g.n)
	case o.Method < Newton || o.Method > Adam:
		return fmt.Errorf("graphembed: unknown method %v", o.Method)
	}
	finite := func(v float64) bool { return v-v == 0 }
	for _, option := range []struct {
		name  string
		value any
		ok    bool
		want  string
	}{
		{"Starts", o.Starts, o.Starts >= 0, "0 or more"},
		{"MaxIter", o.MaxIter, o.MaxIter >= 0, "0 or more"},
		{"Workers", o.Workers, o.Workers >= 0, "0 or more"},
		{"Spread", o.Spread, o.Spread >= 0 && finite(o.Spread), "0 or more, and finite"},
		{"Rate", o.Rate, o.Rate >= 0 && finite(o.Rate), "0 or more, and finite"},
		{"Target", o.Target, !math.IsNaN(o.Target), "a number"},
		{"Margin", o.Margin, finite(o.Margin), "a finite number"},
	} {
		if !option.ok {
			return fmt.Errorf("graphembed: option %s is %v, want %s", option.name, option.value, option.want)
		}
	}
	if o.FixedAt != nil {
		if r, c := o.FixedAt.Dims(); r != o.Fixed || c != k {
			return fmt.Errorf("graphembed: FixedAt is %d×%d, want %d fixed vertices in %d dimensions", r, c, o.Fixed, k)
		}
		if err := objective.CheckFinite("graphembed: FixedAt", objective.View(o.FixedAt)); err != nil {
			return err
		}
	}
	if o.Fixed == 0 {
		o.FixedAt = nil
	}
	o.Starts = cmp.Or(o.Starts, 10)
	if o.Fixed == g.n {
		o.Starts = 1
	}
	o.Spread, o.Margin, o.Target = cmp.Or(o.Spread, 1), cmp.Or(o.Margin, DefaultMargin), cmp.Or(o.Target, 1e-24)
	o.Rate = cmp.Or(o.Rate, 0.01)
	o.MaxIter = cmp.Or(o.MaxIter, [...]int{Newton: 100, LBFGS: 1000, Adam: 5000}[o.Method])
	return nil
}

// A search is the parallel task of Embed. A block of it is a start.
type search struct {
	ctx     context.Context
	graph   *Graph
	k       int
	options Options
	x       []*mat.Dense
	starts  []Start
}

// Block implements parallel.Task.
func (s *search) Block(_, i int) {
	o := &s.options
	m := &Model{Graph: s.graph, K: s.k, Margin: o.Margin}
	if o.Starts > 1 {
		m.Workers = 1
	} else {
		m.Workers = o.Workers
	}
	data := s.x[i].RawMatrix().Data
	if o.Fixed > 0 {
		m.Fixed.Rows, m.Fixed.Cols, m.Fixed.Data, m.Fixed.Stride = o.Fixed, s.k, data[:o.Fixed*s.k], s.k
	}
	x := data[o.Fixed*s.k:]
	start := &s.starts[i]
	if o.Objective == nil || len(x) == 0 {
		start.run(s.ctx, m, x, o)
		return
	}
	e := &guardedLoss{}
	if e.of, start.Err = o.Objective(m); start.Err != nil {
		start.Loss = math.NaN()
		return
	}
	start.run(s.ctx, e, x, o)
	if e.err != nil {
		start.Err = e.err
	}
	start.Err = errors.Join(start.Err, e.of.Free())
}

// run minimises a loss from x on. It moves x.
func (s *Start) run(ctx context.Context, m loss, x []float64, o *Options) {
	if len(x) > 0 {
		switch o.Method {
		case Newton:
			s.Iterations, s.Err = newton(ctx, m, x, o)
		case LBFGS:
			s.Iterations, s.Err = lbfgs(ctx, m, x, o)
		case Adam:
			s.Iterations, s.Err = adam(ctx, m, x, o)
		}
	}
	s.Loss = m.Func(x)
}

// newton moves x to a minimum. It returns the number of Hessians, or of iterations if the
// problem has no Hess.
func newton(ctx context.Context, m loss, x []float64, o *Options) (int, error) {
	p := m.TrustProblem()
	opts := &trust.Options{Tolerance: -1, Target: &o.Target}
	if p.Hess != nil {
		opts.MaxHessians = o.MaxIter
	} else {
		opts.MaxIter = o.MaxIter
	}
	r, err := trust.Minimize(ctx, p, x, opts)
	copy(x, r.X)
	if p.Hess == nil {
		return r.Iterations, err
	}
	return r.Hessians, err
}

// lbfgs moves x to a minimum. It returns the number of iterations.
func lbfgs(ctx context.Context, m loss, x []float64, o *Options) (int, error) {
	set := &optimize.Settings{
		GradientThreshold: math.NaN(), // no threshold
		MajorIterations:   o.MaxIter,
		Converger: objective.Converger(func(l *optimize.Location) optimize.Status {
			if l.F <= o.Target {
				return optimize.FunctionThreshold
			}
			return optimize.NotTerminated
		}),
	}
	status := func() (optimize.Status, error) {
		if ctx.Err() != nil {
			return optimize.RuntimeLimit, nil
		}
		return optimize.NotTerminated, nil
	}
	r, err := objective.Minimize(optimize.Problem{Func: m.Func, Grad: m.Grad, Status: status}, x, set, &optimize.LBFGS{})
	if r == nil {
		return 0, err
	}
	copy(x, r.X)
	// If a line search finds no lower value, it has reached the rounding of the loss.
	if errors.Is(err, optimize.ErrLinesearcherFailure) || errors.Is(err, optimize.ErrNoProgress) || errors.Is(err, optimize.ErrNonDescentDirection) {
		err = nil
	}
	if err == nil {
		err = ctx.Err()
	}
	return r.MajorIterations, err
}

// adam moves x towards a minimum. It returns the number of steps.
func adam(ctx context.Context, m loss, x []float64, o *Options) (int, error) {
	grad, method := make([]float64, len(x)), optim.Adam{Rate: optim.Constant(o.Rate)}
	for step := range o.MaxIter {
		if err := ctx.Err(); err != nil {
			return step, err
		}
		loss := m.FuncGrad(grad, x)
		if loss <= o.Target || math.IsNaN(loss) || floats.HasNaN(grad) {
			return step, nil
		}
		method.Step(x, grad)
	}
	return o.MaxIter, nil
}

// Classes returns the distances of the two kinds of pairs. Row i of x is the position of
// vertex i. As in Loss, squares of differences may overflow and underflow. Classes panics with
// mat.ErrShape if x does not have one row for each vertex.
func Classes(g *Graph, x mat.Matrix) (connectedPairs, apartPairs Class) {
	n, dim := x.Dims()
	objective.CheckDims("graphembed.Classes", "x", n, dim, g.n, dim)
	var class [kinds]Class
	var origin [kinds]float64
	// Until all distances are added, Mean and Deviation are the sums of these, less the
	// origin, and of their squares.
	add := func(c int, d []float64) {
		if len(d) == 0 {
			return
		}
		k := &class[c]
		if k.Pairs == 0 {
			origin[c], k.Min, k.Max = d[0], d[0], d[0]
		}
		k.Pairs += len(d)
		k.Min, k.Max = min(k.Min, slices.Min(d)), max(k.Max, slices.Max(d))
		floats.AddConst(-origin[c], d)
		k.Mean += floats.Sum(d)
		k.Deviation += floats.Dot(d, d)
	}
	at := make([]float64, dim*n) // by coordinate
	for a := range dim {
		mat.Col(at[a*n:(a+1)*n], a, x)
	}
	from, distances := make([]float64, dim), make([]float64, n)
	for i := range n - 1 {
		next := i + 1
		pairs.Distances(distances[next:], at[min(next, len(at)):], n, mat.Row(from, i, x))
		for _, j := range g.Later(i) {
			add(apart, distances[next:j])
			add(connected, distances[j:j+1])
			next = int(j) + 1
		}
		add(apart, distances[next:])
	}
	for c := range class {
		k := &class[c]
		sum, count := k.Mean, float64(max(1, k.Pairs))
		k.Mean = origin[c] + sum/count
		if k.Pairs > 1 {
			k.Deviation = math.Sqrt(max(0, k.Deviation-float64(sum/count*sum)) / (count - 1))
		}
	}
	return class[connected], class[apart]
}
