package ulog

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestBigConstants compares with digits from tables. The references of all other tests use
// these functions.
func TestBigConstants(t *testing.T) {
	const p = 400
	one := new(big.Int).Lsh(big.NewInt(1), p)
	for _, c := range []struct {
		name, want string
		have       *big.Int
	}{
		{"log 2", "0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586332699641868754200148102", bigLn2(p)},
		{"log 10", "2.30258509299404568401799145468436420760110148862877297603332790096757260967735248023599720508959829834196778404", bigLn10(p)},
		{"e", "2.71828182845904523536028747135266249775724709369995957496696762772407663035354759457138217852516642742746639193", bigExp(one, p)},
		{"log 3", "1.09861228866810969139524523692252570464749055782274945173469433363749429321860896687361575481373208878797002907", bigLog(new(big.Int).Mul(one, big.NewInt(3)), p)},
	} {
		have := new(big.Float).SetMantExp(new(big.Float).SetInt(c.have), -p)
		want, _, err := big.ParseFloat(c.want, 10, p, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		if diff := have.Sub(have, want); diff.MantExp(nil) > -360 {
			t.Errorf("%s is off by %.3g", c.name, diff)
		}
	}
}

// TestBigInverse checks log(e^r) = r at many precisions.
func TestBigInverse(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for p := uint(64); p < 5000; p += p/3 + 1 {
		for range 10 {
			r := new(big.Int).Lsh(big.NewInt(rnd.Int64N(23e17)), p)
			r.Quo(r, big.NewInt(1e18)) // below log 10
			back := bigLog(bigExp(r, p), p)
			if d := back.Sub(back, r); d.CmpAbs(big.NewInt(1<<slackBits)) > 0 {
				t.Errorf("%d bits: log(exp(%v)) is off by %v units", p, r, d)
			}
		}
	}
}
