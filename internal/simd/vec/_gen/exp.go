package main

import (
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// exponentials emits a loop over n elements, several vectors at a time, neon of them on NEON, that hands
// the exponentials of argument to use.
func (v vec) exponentials(n Register, neon int, argument func(l Step) VecVirtual, use func(l Step, e VecVirtual)) {
	exp := v.Exponential(true)
	v.Groups(n, v.Unroll(4, 2, neon), func(ls []Step) {
		x := make([]VecVirtual, len(ls))
		for u, l := range ls {
			x[u] = argument(l)
		}
		for u, e := range exp(x) {
			use(ls[u], e)
		}
	}, nil)
}

// difference returns x - y.
func difference(l Step, x Register, y Op) VecVirtual {
	d := l.Load(x)
	l.Sub(y, d, d)
	return d
}

func exp(v vec) {
	if !v.Double() {
		v.loop(lanes("exp"))
		return
	}
	dst, x, n := Arg("dst"), Arg("x"), Arg("n")
	v.exponentials(n, 2, func(l Step) VecVirtual { return l.Load(x) }, func(l Step, e VecVirtual) { l.Store(e, dst) })
}

// addLoop emits the sum of exponentials, logarithms or activations of float64.
func (v vec) addLoop(of string, sum kind) {
	dst, x, n, sign := Arg("dst"), Arg("x"), Arg("n"), v.BroadcastArg("sign")
	var from Register
	if sum == sumOfProducts {
		from = Arg("from")
	}
	use := func(l Step, y VecVirtual) {
		if sum == sumOfProducts {
			l.Mul(l.Load(from), y, y)
		}
		t := l.Load(dst)
		v.Fmadd231(y, sign, t)
		l.Store(t, dst)
	}
	switch of {
	case "exp":
		v.exponentials(n, 2, func(l Step) VecVirtual { return l.Load(x) }, use)
	case "log":
		v.logarithms(n, x, use)
	default:
		v.activation(activations[slices.IndexFunc(activations, func(a activation) bool { return a.name == of })], n, x,
			func(l Step, y, _ VecVirtual) { use(l, y) })
	}
}

// differences returns how many vectors a turn of exponentials of differences takes on NEON: of float32, six chains
// share constants and take less time than four.
func (v vec) differences() int {
	if v.Narrow {
		return 3
	}
	return 2
}

func expSubTo(v vec) {
	dst, x, y, n := Arg("dst"), Arg("x"), Arg("y"), Arg("n")
	v.exponentials(n, v.differences(), func(l Step) VecVirtual { return difference(l, x, l.Load(y)) }, func(l Step, e VecVirtual) { l.Store(e, dst) })
}

func expSubAdd(v vec) {
	x, y, sum, n := Arg("x"), Arg("y"), Arg("sum"), Arg("n")
	v.exponentials(n, v.differences(), func(l Step) VecVirtual { return difference(l, x, l.Load(y)) }, func(l Step, e VecVirtual) {
		t := l.Load(sum)
		v.Add(e, t, t)
		l.Store(e, x)
		l.Store(t, sum)
	})
}

func expShiftSum(v vec) {
	x, n, dst := Arg("x"), Arg("n"), Arg("dst")
	shift, sum := v.BroadcastArg("shift"), v.Zeros(1)[0]
	v.exponentials(n, 2, func(l Step) VecVirtual { return difference(l, x, shift) }, func(l Step, e VecVirtual) {
		addTo(l, sum, e)
		l.Store(e, dst)
	})
	v.ReturnSum(sum)
}

// sumExp prefetches the elements that the comment on SumExp names.
func sumExp(v vec) {
	const ahead = 1024
	x, n := Arg("x"), Arg("n")
	shift, sum := v.BroadcastArg("shift"), v.Zeros(1)[0]
	v.exponentials(n, 2, func(l Step) VecVirtual {
		if m := l.At(x); m.Disp%64 == 0 { // of each line
			PREFETCHT0(m.Offset(ahead * v.Stored()))
		}
		return difference(l, x, shift)
	}, func(l Step, e VecVirtual) { addTo(l, sum, e) })
	v.ReturnSum(sum)
}

// addTo adds to sum those lanes of x that are not masked out.
func addTo(l Step, sum, x VecVirtual) {
	switch {
	case l.Mask == nil:
		VADDPD(x, sum, sum)
	case l.Wide:
		VADDPD(x, sum, l.Mask.K, sum)
	default:
		m, t := l.Mask.Y, l.Reg()
		if l.Narrow {
			m = YMM()
			VPMOVSXDQ(l.Mask.Y, m)
		}
		VANDPD(m, x, t)
		VADDPD(t, sum, sum)
	}
}
