package cuda

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revmodels/gmm"
)

// hostFixedPosterior is gmm.FixedLogPosterior, whose passes run on the device.
type hostFixedPosterior gmm.FixedLogPosterior

func (k hostFixedPosterior) Run(p rev.Pass[hostFixedPosterior]) error {
	return through[hostFixedPosterior, FixedLogPosterior](testDevice, k, p)
}

func randomFixedPosterior(rnd *rand.Rand, n, d, comps int, prior gmm.Prior) hostFixedPosterior {
	k := hostFixedPosterior{
		Out: &vector[fixed.Q43](rnd, 1).Data[0], Alpha: vector[fixed.Q43](rnd, comps), Means: general[fixed.Q43](rnd, comps, d),
		Factors: general[fixed.Q43](rnd, comps, d*(d+1)/2), X: general[fixed.Q43](rnd, n, d), Prior: prior,
	}
	for i := range k.Factors.Data {
		k.Factors.Data[i] /= 4
	}
	return k
}

func TestFixedLogPosterior(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	smallBatches(t, 3)
	sizes, skip := []int{2}, maps.Clone(noAllocs)
	if long.Tests() {
		sizes = []int{0, 1, 2, 5}
	} else {
		skip["Extremes"] = "takes long"
	}
	random := func(rnd *rand.Rand, size int) hostFixedPosterior {
		return randomFixedPosterior(rnd, 2*size, min(size, 2), min(size, 2), gmm.Prior{Gamma: 0.7, M: 2})
	}
	revtest.Kernel(t, revtest.Spec[hostFixedPosterior]{
		Sizes: sizes, Skip: skip, Free: []string{"X.Rows"}, Step: 1.0 / 1024, New: random,
		Failing: func(rnd *rand.Rand, size int) hostFixedPosterior {
			k := random(rnd, max(1, size))
			k.X.Data[0] = 5000 * fixed.One // out of reach
			return k
		},
	})
}

// TestFixedLogPosteriorBits compares all passes with those of the CPU, bit for bit.
func TestFixedLogPosteriorBits(t *testing.T) {
	before := mixtureRun
	mixtureRun = 16
	t.Cleanup(func() { mixtureRun = before })
	adbench := gmm.Prior{Gamma: 0.7, M: 2, Sign: gmm.ADBench}
	for _, c := range []struct {
		n, d, comps, batch int
		prior              gmm.Prior
		still              bool // points have no tangents, and μ̇ is the least number, which -μ̇ is then too
	}{
		{7, 1, 1, 1 << 17, gmm.Prior{}, false},                 // one component has the weight 1
		{41, 3, 2, 40, adbench, false},                         // three parts, which end within a tile of terms; the last batch leaves two of them empty
		{9, 9, 2, 4, gmm.Prior{Gamma: 1.5}, false},             // tiles at and below the diagonal, several batches, the last one short
		{270, 2, 2, 1 << 17, gmm.Prior{Gamma: 1, M: 3}, false}, // several blocks, and more points of a part than a tile has terms
		{0, 2, 3, 1 << 17, adbench, false},
		{9, 37, 2, 1 << 17, adbench, false}, // several tiles of Q and of its rows, the last ones short
		{3, 0, 2, 1 << 17, adbench, false},
		{0, 2, 0, 1 << 17, adbench, false},
		{3, 1, 1, 1 << 17, gmm.Prior{}, true},
		{3, 37, 2, 1 << 17, gmm.Prior{}, true},
	} {
		for _, capability := range []int{75, 80} {
			t.Run(fmt.Sprint(c, capability), func(t *testing.T) {
				testDevice = withTensorCores(t, 1<<26, capability)
				smallBatches(t, c.batch)
				calls := 0 // for operands, cotangents, tangents and cotangents of tangents, twice
				same(t, func(rnd *rand.Rand) hostFixedPosterior {
					k := randomFixedPosterior(rnd, c.n, c.d, c.comps, c.prior)
					if calls++; c.still && calls%4 == 3 {
						k.X.Data = nil
						for i := range k.Means.Data {
							k.Means.Data[i] = fixed.Min
						}
					}
					return k
				}, func(k hostFixedPosterior) gmm.FixedLogPosterior { return gmm.FixedLogPosterior(k) })
			})
		}
	}
}

// TestFixedLogPosteriorParts leaves operands of all parts out.
func TestFixedLogPosteriorParts(t *testing.T) {
	smallBatches(t, 4)
	for _, capability := range []int{75, 80} {
		testDevice = withTensorCores(t, 1<<26, capability)
		for mask := range 32 {
			calls := 0 // for an operand, a cotangent, a tangent and its cotangent, twice
			same(t, func(rnd *rand.Rand) hostFixedPosterior {
				k := randomFixedPosterior(rnd, 6, 2, 2, gmm.Prior{Gamma: 0.7})
				if calls++; calls%4 == 1 {
					return k
				}
				left := mask
				if calls%4 == 3 {
					left = mask>>1 | mask<<4 // others of the tangents
				}
				if left&1 != 0 {
					k.Alpha.Data = nil
				}
				if left&2 != 0 {
					k.Means.Data = nil
				}
				if left&4 != 0 {
					k.Factors.Data = nil
				}
				if left&8 != 0 {
					k.X.Data = nil
				}
				if left&16 != 0 {
					k.Out = nil
				}
				return k
			}, func(k hostFixedPosterior) gmm.FixedLogPosterior { return gmm.FixedLogPosterior(k) })
		}
	}
}

// TestFixedLogPosteriorRange checks that values out of range give the errors of the CPU.
func TestFixedLogPosteriorRange(t *testing.T) {
	devices := []*Device{withTensorCores(t, 1<<26, 75), withTensorCores(t, 1<<26, 80)}
	smallBatches(t, 4)
	const one = fixed.One
	for want, edit := range map[string]func(k *hostFixedPosterior){
		"exponential of Factors[1,0]": func(k *hostFixedPosterior) { k.Factors.Row(1)[0], k.X.Row(0)[0] = 14*one, 5000*one },
		"log density of point 5":      func(k *hostFixedPosterior) { k.X.Row(5)[0], k.X.Row(8)[1] = 5000*one, 5000*one },
		"log density of point 3":      func(k *hostFixedPosterior) { k.X.Row(3)[0], k.Means.Row(0)[0] = fixed.Max, -one }, // the difference wraps
		"log density of point 2": func(k *hostFixedPosterior) { // the product with Q may wrap
			k.X.Row(2)[0], k.Means.Row(0)[0], k.Means.Row(1)[0] = fixed.Max, 0, 0
			k.Factors.Row(0)[2] = fixed.Max
			copy(k.Factors.Row(1), []fixed.Q43{-13 * one, 0, 0})
			k.Prior = gmm.Prior{}
		},
		"log posterior": func(k *hostFixedPosterior) {
			for i := range k.X.Rows {
				k.X.Row(i)[1] = 550 * one
			}
		},
		"prior of entry (1,0) of Q_1": func(k *hostFixedPosterior) { k.Factors.Row(1)[2] = 1024 * one },
		"prior of Q_1": func(k *hostFixedPosterior) {
			k.Factors.Row(0)[2], k.Factors.Row(1)[2] = 1000*one, 1000*one
		},
		"prior":                       func(k *hostFixedPosterior) { k.Factors.Row(1)[2], k.Prior.Gamma = 900*one, 2 },
		"prior of γ = 2000, M = 0":    func(k *hostFixedPosterior) { k.Prior.Gamma = 2000 },
		"prior of γ = 1, M = 1048576": func(k *hostFixedPosterior) { k.Prior = gmm.Prior{Gamma: 1, M: 1048576} },
		"log density of point 0": func(k *hostFixedPosterior) {
			k.Alpha, k.Means, k.Factors = rev.Vector[fixed.Q43]{}, rev.General[fixed.Q43]{Cols: 2}, rev.General[fixed.Q43]{Cols: 3}
		},
		"": func(k *hostFixedPosterior) { // one component is out of reach
			k.Means.Row(1)[0] = 90000 * one
			copy(k.Factors.Row(1), []fixed.Q43{0, 0, 0})
		},
	} {
		for _, testDevice = range devices {
			operands := func() (k, g hostFixedPosterior) {
				rnd := rand.New(rand.NewPCG(15, 1))
				k = randomFixedPosterior(rnd, 9, 2, 2, gmm.Prior{Gamma: 0.7})
				edit(&k)
				return k, randomFixedPosterior(rnd, 9, 2, k.Alpha.N, gmm.Prior{})
			}
			k, g := operands()
			k2, g2 := operands()
			err, onCPU := rev.Adjoint(k, g), gmm.FixedLogPosterior(k2).Adjoint(gmm.FixedLogPosterior(g2))
			if want == "" {
				if err != nil || onCPU != nil {
					t.Error(err, onCPU)
				}
			} else if text := "cuda: " + want + ": " + fixed.ErrRange.Error(); !errors.Is(err, fixed.ErrRange) || !errors.Is(onCPU, fixed.ErrRange) || err.Error() != text {
				t.Errorf("error %v, want %q, as %v", err, text, onCPU)
			}
			if !reflect.DeepEqual(k, k2) || !reflect.DeepEqual(g, g2) {
				t.Errorf("%q: the operands or cotangents differ from those of the CPU", want)
			}
		}
	}
}
