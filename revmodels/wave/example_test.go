package wave_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revmodels/wave"
)

// A pulse spreads for 1000 steps, is absorbed, and comes back to the bit.
func ExampleSteps() {
	const n = 60
	k := wave.Steps[fixed.Q43]{
		U: rev.NewGeneral[fixed.Q43](n, n, nil), Prev: rev.NewGeneral[fixed.Q43](n, n, nil),
		M: rev.NewGeneral[fixed.Q43](n, n, nil), N: 1000,
		Damping: wave.Damping{Width: 15, Loss: 0.2}, Absorbed: new(wave.Absorbed),
	}
	for i := range k.M.Data {
		k.M.Data[i] = fixed.FromFloat64(0.25) // c·dt/h = 1/2
	}
	k.U.Row(30)[30], k.Prev.Row(30)[30] = fixed.One, fixed.One
	energy := func() (sum float64) {
		for _, v := range k.U.Data {
			sum += v.Float64() * v.Float64()
		}
		return sum
	}
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("less than a hundredth is left:", energy() < 0.01)
	if err := k.Inverse(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("back to the bit:", energy() == 1 && k.U.Row(30)[30] == fixed.One)
	// Output:
	// less than a hundredth is left: true
	// back to the bit: true
}

// Full-waveform inversion: which speeds explain what the receivers have recorded?
func ExampleInversion() {
	const rows, cols = 30, 40
	s := wave.Survey{Rows: rows, Cols: cols, Spacing: 10, Dt: 0.0025, Steps: 160, Damping: wave.Damping{Width: 8, Loss: 0.2}}
	for col := 10; col < 30; col += 9 { // sources above, receivers below
		shot := wave.Shot{At: wave.Cell{Row: 8, Col: col}, Wavelet: wave.Ricker(20, s.Dt, 60)}
		for c := 8; c < 32; c++ {
			shot.Receivers = append(shot.Receivers, wave.Cell{Row: 22, Col: c})
		}
		s.Shots = append(s.Shots, shot)
	}
	// 2000 m/s, but up to 2200 m/s in the middle.
	truth, start := mat.NewDense(rows, cols, nil), mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			start.Set(i, j, 2000)
			truth.Set(i, j, 2000+200*math.Exp(-(math.Pow(float64(i)-15, 2)+math.Pow(float64(j)-20, 2))/12))
		}
	}
	recordings, err := s.Record(truth)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := wave.NewInversion(s, recordings, 1700, 2400)
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := v.Variables(start)
	if err != nil {
		fmt.Println(err)
		return
	}
	before := v.Func(x)
	r, err := optimize.Minimize(optimize.Problem{Func: v.Func, Grad: v.Grad}, x, &optimize.Settings{MajorIterations: 12}, &optimize.LBFGS{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the misfit falls to less than a hundredth:", r.F < before/100)
	fmt.Printf("the speed in the middle is between 2100 and 2300 m/s: %v\n", math.Abs(v.Speeds(r.X).At(15, 20)-2200) < 100)
	// Output:
	// the misfit falls to less than a hundredth: true
	// the speed in the middle is between 2100 and 2300 m/s: true
}
