package cuda

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revmodels/graphembed"
)

func TestOpenWithoutTag(t *testing.T) {
	dev, err := Open(0)
	if err == nil {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
		t.Skip("there is a device")
	}
	if !errors.Is(err, ErrUnavailable) {
		t.Errorf("error %v, want ErrUnavailable", err)
	}
}

func TestOpenOldCard(t *testing.T) {
	d := interpret(t, 1<<16)
	d.capability = 70
	_, err := newDevice(3, d)
	if want := "cuda: no device that kernels can use: device 3 (interpreter) has compute capability 7.0, want at least 7.5"; !errors.Is(err, ErrUnavailable) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestFormat prints what has memory of a device, which the host cannot read.
func TestFormat(t *testing.T) {
	dev := interpreter(t, 1<<16)
	x := must(NewVector(dev, rev.ViewSlice([]float64{1, 2, 3})))(t)
	a := must(NewGeneral(dev, rev.NewGeneral(2, 2, make([]fixed.Q43, 4))))(t)
	s := must(NewScalar(dev, float32(2)))(t)
	host := must(graphembed.NewGraph(3, [][2]int{{0, 1}}))(t)
	g := must(NewGraph(dev, host))(t)
	at := fmt.Sprintf("%#x", x.Data.address())
	for _, c := range []struct{ got, want string }{
		{fmt.Sprint(x), "{3 [3]float64 at " + at + " on a device 1}"},
		{fmt.Sprintf("%#v", x.Data[:2]), "[2]float64 at " + at + " on a device"},
		{fmt.Sprintf("%d", a.Data), fmt.Sprintf("[4]fixed.Q43 at %#x on a device", a.Data.address())},
		{fmt.Sprint(s), fmt.Sprintf("%p", s)},
		{fmt.Sprint(g, *g), strings.Repeat(" a graph with 3 vertices and 1 edges on a device", 2)[1:]},
		{fmt.Sprintf("%+v", Axpy[float64]{Alpha: &x.Data[0], X: x}), fmt.Sprintf("{Y:{N:0 Data:[0]float64 at 0x0 on a device Inc:0} Alpha:%s X:{N:3 Data:[3]float64 at %s on a device Inc:1}}", at, at)},
		{fmt.Sprint(dev), fmt.Sprintf("device %d (%s)", dev.number, dev.Properties().Name)},
	} {
		if c.got != c.want {
			t.Errorf("printed %s, want %s", c.got, c.want)
		}
	}
}

func TestMemory(t *testing.T) {
	dev := open(t, interpret(t, 1<<16)) // which has little memory
	x, err := NewVector(dev, rev.ViewSlice([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, 3)
	if err := x.Data.Get(got); err != nil || got[2] != 3 {
		t.Errorf("%v, %v", got, err)
	}
	if err := x.Data[1:].Set([]float64{7, 8}); err != nil {
		t.Error(err)
	}
	if err := x.Data.Get(got); err != nil || got[0] != 1 || got[2] != 8 {
		t.Errorf("%v, %v", got, err)
	}
	if err := x.Data[1:].Free(); err == nil {
		t.Error("a part was freed")
	}
	if err := x.Data.Free(); err != nil {
		t.Error(err)
	}
	if err := x.Data.Free(); err == nil {
		t.Error("freed twice")
	}
	if err := x.Data.Get(got); err == nil {
		t.Error("memory that was freed is read")
	}
	_, err = NewVector(dev, rev.ViewSlice(make([]float64, 1<<14)))
	if err == nil || !strings.Contains(err.Error(), "out of memory") {
		t.Errorf("error %v, want out of memory", err)
	}
	s, err := NewScalar(dev, 2.5)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Get(s); v != 2.5 || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}

// TestAlloc allocates, fills and looks at parts of memory without a copy from the host.
func TestAlloc(t *testing.T) {
	dev := interpreter(t, 1<<16)
	a := must(AllocGeneral[fixed.Q43](dev, 4, 5))(t)
	x := must(AllocVector[float32](dev, 7))(t)
	n := must(Alloc[int32](dev, 3))(t)
	none := must(AllocVector[float64](dev, 0))(t)
	equal := func(name string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	get := func(x any) any {
		t.Helper()
		switch m := x.(type) {
		case Memory[fixed.Q43]:
			h := make([]fixed.Q43, len(m))
			equal("error", m.Get(h), nil)
			return h
		case Memory[float32]:
			h := make([]float32, len(m))
			equal("error", m.Get(h), nil)
			return h
		default:
			h := make([]int32, len(m.(Memory[int32])))
			equal("error", m.(Memory[int32]).Get(h), nil)
			return h
		}
	}
	equal("x", get(x.Data), make([]float32, 7))
	if err := errors.Join(Fill(nil, a.Data, fixed.One), Fill(nil, x.Data, 1.5), Fill(nil, n, -2), none.Data.Zero(nil), Fill(nil, none.Data, 3)); err != nil {
		t.Fatal(err)
	}
	equal("n", get(n), []int32{-2, -2, -2})
	even := Vector[float32]{N: 4, Data: x.Data, Inc: 2}.Slice(1, 3)
	if err := (Axpy[float32]{Y: even, Alpha: &x.Data[0], X: Vector[float32]{2, x.Data[5:], 1}}).Forward(); err != nil {
		t.Fatal(err)
	}
	equal("x", get(x.Data), []float32{1.5, 1.5, 3.75, 1.5, 3.75, 1.5, 1.5})
	part := a.Slice(1, 3, 2, 4)
	if err := errors.Join(a.Row(1).Data.Zero(nil), part.Row(1).Data.Zero(nil), a.Row(3).Data[:2].Copy(nil, part.Row(0).Data)); err != nil {
		t.Fatal(err)
	}
	o := fixed.One
	equal("a", get(a.Data), []fixed.Q43{o, o, o, o, o, 0, 0, 0, 0, 0, o, o, 0, 0, o, 0, 0, o, o, o})
	equal("a column", [3]int{part.Col(1).N, len(part.Col(1).Data), part.Col(1).Inc}, [3]int{2, 6, 5})
	equal("its address", part.Col(1).Data.address(), a.Data[8:].address())
	equal("an empty part", [3]int{len(a.Slice(1, 3, 4, 4).Data), len(x.Slice(7, 7).Data), len(none.Slice(0, 0).Data)}, [3]int{})
	free, total, err := dev.Memory()
	if err != nil || free <= 0 || free > total {
		t.Errorf("%d of %d bytes are free: %v", free, total, err)
	}
	for name, f := range map[string]func(){
		"rows": func() { a.Slice(3, 5, 0, 1) }, "columns": func() { a.Slice(0, 1, 2, 6) }, "row": func() { a.Row(-1) }, "column": func() { a.Col(5) },
		"elements": func() { x.Slice(2, 8) }, "order": func() { x.Slice(3, 2) }, "length": func() { _, _ = Alloc[int32](dev, -1) }, "dimension": func() { _, _ = AllocGeneral[int32](dev, 1, -1) },
		"copy": func() { _ = n.Copy(nil, n[1:]) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	if err := n.Copy(nil, Memory[int32](make([]int32, 3))); !errors.Is(err, errForeign) {
		t.Errorf("a copy from the host: error %v", err)
	}
}

func TestWrongOperands(t *testing.T) {
	dev := interpreter(t, 1<<16)
	x, err := NewVector(dev, rev.ViewSlice([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	out, err := NewScalar(dev, 0.0)
	if err != nil {
		t.Fatal(err)
	}
	host := Vector[float64]{N: 3, Data: make([]float64, 3), Inc: 1}
	if err := (Dot[float64]{Out: out, X: host, Y: x}).Forward(); err == nil {
		t.Error("an operand on the host was taken")
	}
	func() {
		defer func() {
			if err, ok := recover().(error); !ok || !errors.Is(err, mat.ErrShape) {
				t.Errorf("panic %v, want mat.ErrShape", err)
			}
		}()
		_ = Dot[float64]{Out: out, X: x, Y: Vector[float64]{N: 2, Data: x.Data[:2], Inc: 1}}.Forward()
	}()
}

func Example() {
	dev, err := Open(0)
	if errors.Is(err, ErrUnavailable) {
		fmt.Println("no GPU")
		return
	}
	defer dev.Close()
	x, _ := NewVector(dev, rev.ViewSlice([]float64{1, 2, 3}))
	out, _ := NewScalar(dev, 0.0)
	if err := (Dot[float64]{Out: out, X: x, Y: x}).Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(Get(out))
}

// A slowCompiler compiles when it is told to.
type slowCompiler struct {
	*interpreted
	begins  chan string
	proceed chan error
}

func (d slowCompiler) compile(kernel string) error {
	d.begins <- kernel
	return <-d.proceed
}

// TestCompile makes a pass while kernels are compiled. Close waits for them.
func TestCompile(t *testing.T) {
	on := slowCompiler{interpret(t, 1<<20), make(chan string), make(chan error)}
	dev, err := newDevice(0, on)
	if err != nil {
		t.Fatal(err)
	}
	compiled, closed := make(chan error), make(chan error, 1)
	go func() { compiled <- dev.Compile(regexp.MustCompile("^dot.*F64$")) }()
	names := []string{<-on.begins}
	x := must(NewVector(dev, rev.ViewSlice([]float64{1, 2})))(t)
	if err := (Sum[float64]{Out: &must(NewVector(dev, rev.ViewSlice([]float64{0})))(t).Data[0], X: x}).Forward(); err != nil {
		t.Error(err)
	}
	go func() { closed <- dev.Close() }()
	on.proceed <- ErrMemory
	names = append(names, <-on.begins)
	for deadline := time.Now().Add(time.Minute); dev.compiling.TryRLock(); time.Sleep(time.Millisecond) { // until Close waits
		dev.compiling.RUnlock()
		if time.Now().After(deadline) {
			t.Fatal("Close does not wait for Compile")
		}
	}
	select {
	case err := <-closed:
		t.Fatal("closed too early", err)
	default:
	}
	on.proceed <- nil
	slices.Sort(names)
	if err := <-compiled; !errors.Is(err, ErrMemory) || !slices.Equal(names, []string{"dotEndF64", "dotPartsF64"}) {
		t.Errorf("%v, error %v", names, err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestCompileNone(t *testing.T) {
	if err := interpreter(t, 1<<20).Compile(regexp.MustCompile("no such kernel")); err == nil {
		t.Error("no error for a name that no kernel has")
	}
}
