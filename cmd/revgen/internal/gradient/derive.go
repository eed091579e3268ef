package gradient

import (
	"maps"
	"slices"
	"strings"
)

// A derivative gives the partial derivatives of r = f(x...). It is nil for a function that is
// constant but for steps.
type derivative struct {
	partials func(x []expr, r expr) []expr
	value    bool // the partials need r alone
	cheap    bool // to compute again
}

func of(f func(x, r expr) expr) func(x []expr, r expr) []expr {
	return func(x []expr, r expr) []expr { return []expr{f(x[0], r)} }
}

// overOrZero is x/y, and 0 for y = 0, where a derivative does not exist.
func overOrZero(x, y expr) expr {
	return &call{"num.Ratio", numPath, []expr{x, y}, float}
}

const numPath = "revnum/rev/num"

func square(x expr) expr { return times(x, x) }

// derivatives has the functions of package math that may be called.
var derivatives = map[string]derivative{
	"Exp":   {of(func(x, r expr) expr { return r }), true, false},
	"Exp2":  {of(func(x, r expr) expr { return times(number("math.Ln2"), r) }), true, false},
	"Expm1": {of(func(x, r expr) expr { return add(r, number("1")) }), true, false},
	"Log":   {of(func(x, r expr) expr { return over(number("1"), x) }), false, false},
	"Log2":  {of(func(x, r expr) expr { return over(number("(1/math.Ln2)"), x) }), false, false},
	"Log10": {of(func(x, r expr) expr { return over(number("(1/math.Ln10)"), x) }), false, false},
	"Log1p": {of(func(x, r expr) expr { return over(number("1"), add(number("1"), x)) }), false, false},
	"Sqrt":  {of(func(x, r expr) expr { return overOrZero(number("0.5"), r) }), true, true},
	"Cbrt":  {of(func(x, r expr) expr { return overOrZero(number("1"), times(number("3"), square(r))) }), true, false},
	"Sin":   {of(func(x, r expr) expr { return fn("Cos", x) }), false, false},
	"Cos":   {of(func(x, r expr) expr { return negative(fn("Sin", x)) }), false, false},
	"Tan":   {of(func(x, r expr) expr { return add(number("1"), square(r)) }), true, false},
	"Asin":  {of(func(x, r expr) expr { return overOrZero(number("1"), complement(x)) }), false, false},
	"Acos":  {of(func(x, r expr) expr { return negative(overOrZero(number("1"), complement(x))) }), false, false},
	"Atan":  {of(func(x, r expr) expr { return over(number("1"), add(number("1"), square(x))) }), false, false},
	"Sinh":  {of(func(x, r expr) expr { return fn("Cosh", x) }), false, false},
	"Cosh":  {of(func(x, r expr) expr { return fn("Sinh", x) }), false, false},
	"Tanh":  {of(func(x, r expr) expr { return subtract(number("1"), square(r)) }), true, false},
	"Asinh": {of(func(x, r expr) expr { return over(number("1"), fn("Hypot", x, number("1"))) }), false, false},
	"Acosh": {of(func(x, r expr) expr {
		return overOrZero(number("1"), times(fn("Sqrt", subtract(x, number("1"))), fn("Sqrt", add(x, number("1")))))
	}), false, false},
	"Atanh":   {of(func(x, r expr) expr { return over(number("1"), subtract(number("1"), square(x))) }), false, false},
	"Erf":     {of(func(x, r expr) expr { return bell(x) }), false, false},
	"Erfc":    {of(func(x, r expr) expr { return negative(bell(x)) }), false, false},
	"Erfinv":  {of(func(x, r expr) expr { return times(number("(math.SqrtPi/2)"), fn("Exp", square(r))) }), true, false},
	"Erfcinv": {of(func(x, r expr) expr { return negative(times(number("(math.SqrtPi/2)"), fn("Exp", square(r)))) }), true, false},
	"J0":      {of(func(x, r expr) expr { return negative(fn("J1", x)) }), false, false},
	"Y0":      {of(func(x, r expr) expr { return negative(fn("Y1", x)) }), false, false},
	"J1":      {of(func(x, r expr) expr { return halfDifference(fn("J0", x), fn("Jn", integerLit(2), x)) }), false, false},
	"Y1":      {of(func(x, r expr) expr { return halfDifference(fn("Y0", x), fn("Yn", integerLit(2), x)) }), false, false},
	"Jn":      {bessel("Jn"), false, false},
	"Yn":      {bessel("Yn"), false, false},
	"Abs":     {of(func(x, r expr) expr { return &call{"num.Signum", numPath, []expr{x}, float} }), false, true},
	"Pow": {func(x []expr, r expr) []expr {
		dx := times(x[1], fn("Pow", x[0], subtract(x[1], number("1"))))
		if isLit(x[1], "2") {
			dx = times(number("2"), x[0])
		}
		return []expr{dx, times(r, fn("Log", x[0]))}
	}, false, false},
	"Hypot": {func(x []expr, r expr) []expr { return []expr{overOrZero(x[0], r), overOrZero(x[1], r)} }, false, false},
	"Atan2": {func(x []expr, r expr) []expr {
		s := add(square(x[0]), square(x[1]))
		return []expr{overOrZero(x[1], s), negative(overOrZero(x[0], s))}
	}, false, false},
	"FMA": {func(x []expr, r expr) []expr { return []expr{x[1], x[0], number("1")} }, false, true},
	"Mod": {func(x []expr, r expr) []expr {
		return []expr{number("1"), negative(fn("Trunc", over(x[0], x[1])))}
	}, false, false},
	"Remainder": {func(x []expr, r expr) []expr {
		return []expr{number("1"), negative(fn("RoundToEven", over(x[0], x[1])))}
	}, false, false},
	"Copysign": {func(x []expr, r expr) []expr {
		return []expr{times(&call{"num.Signum", numPath, []expr{x[0]}, float}, fn("Copysign", number("1"), x[1])), number("0")}
	}, false, true},
	"Dim":   {func(x []expr, r expr) []expr { s := step(r); return []expr{s, negative(s)} }, true, true},
	"Gamma": {of(func(x, r expr) expr { return times(r, &call{"num.Digamma", numPath, []expr{x}, float}) }), false, false},
	"num.Ratio": {func(x []expr, r expr) []expr {
		dy := overOrZero(r, x[1])
		switch {
		case isLit(x[0], "1"):
			dy = square(r)
		case isLit(x[0], "0.5"):
			dy = times(number("2"), square(r))
		}
		return []expr{overOrZero(number("1"), x[1]), negative(dy)}
	}, false, true},
	"num.SquareTimes": {func(x []expr, r expr) []expr {
		return []expr{times(number("2"), times(x[0], x[1])), square(x[0])}
	}, false, true},
	"num.Digamma":  {of(func(x, r expr) expr { return &call{"num.Trigamma", numPath, []expr{x}, float} }), false, false},
	"num.Signum":   {cheap: true},
	"num.Where":    {func(x []expr, r expr) []expr { return []expr{nil, where(x[0], number("1"))} }, false, true},
	"num.Constant": {cheap: true},
	"num.Lgamma":   {of(func(x, r expr) expr { return &call{"num.Digamma", numPath, []expr{x}, float} }), false, false},
	"Ldexp":        {func(x []expr, r expr) []expr { return []expr{fn("Ldexp", number("1"), x[1]), number("0")} }, false, true},
	"Nextafter":    {func(x []expr, r expr) []expr { return []expr{number("1"), number("0")} }, false, true},
	"Pow10":        {cheap: true},
	"Logb":         {cheap: true},
	"Ilogb":        {cheap: true},
	"Frexp":        {},
	"Lgamma":       {},
	"Max":          {},
	"Min":          {},
	"Floor":        {cheap: true},
	"Ceil":         {cheap: true},
	"Round":        {cheap: true},
	"RoundToEven":  {cheap: true},
	"Trunc":        {cheap: true},
	"Signbit":      {cheap: true},
	"IsNaN":        {cheap: true},
	"IsInf":        {cheap: true},
	"Inf":          {cheap: true},
	"NaN":          {cheap: true},
	"Sincos":       {},
	"Modf":         {},
}

// derivativeOf returns the derivative of a function that is called.
func derivativeOf(e *call) (derivative, bool) {
	d, ok := derivatives[strings.TrimPrefix(e.fn, "math.")]
	return d, ok && (e.path == "math" || e.path == numPath)
}

// step is 1 where r > 0.
func step(r expr) expr { return &call{"num.Signum", numPath, []expr{r}, float} }

// bessel is the derivative of Bessel's functions of order n by x.
func bessel(name string) func(x []expr, r expr) []expr {
	return func(x []expr, r expr) []expr {
		return []expr{number("0"), halfDifference(fn(name, plus(x[0], -1), x[1]), fn(name, plus(x[0], 1), x[1]))}
	}
}

func halfDifference(x, y expr) expr { return times(number("0.5"), subtract(x, y)) }

// bell is 2/√π·exp(-x²).
func bell(x expr) expr {
	return times(number("(2/math.SqrtPi)"), fn("Exp", negative(square(x))))
}

func complement(x expr) expr { return fn("Sqrt", subtract(number("1"), square(x))) }

// known lists the functions of package math that have derivatives.
func known() string {
	names := slices.Sorted(maps.Keys(derivatives))
	return strings.Join(slices.DeleteFunc(names, func(s string) bool { return strings.Contains(s, ".") }), ", ")
}
