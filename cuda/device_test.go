package cuda

import (
	"errors"
	"fmt"
	"strings"
	"testing"

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
