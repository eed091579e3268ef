package gradbench

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

var modeNames = []string{"ff", "fr", "rf", "rr"}

// The results are those that GradBench expects.
func TestSaddleAndParticle(t *testing.T) {
	for _, mode := range modeNames {
		a := talk(t, `{"id":1,"kind":"evaluate","module":"saddle","function":"`+mode+`","input":{"start":[1.0,1.0]}}`,
			`{"id":2,"kind":"evaluate","module":"particle","function":"`+mode+`","input":{"w":0.0}}`)
		var saddle []float64
		if err := json.Unmarshal(a[0].Output, &saddle); err != nil || len(saddle) != 4 {
			t.Fatal(err, a[0].Error)
		}
		for i, v := range saddle {
			if !(math.Abs(v-8.246324826140356e-06) <= 1e-12) {
				t.Errorf("%s: element %d of the saddle is %v", mode, i, v)
			}
		}
		if w := numberOf(t, a[1]); !(math.Abs(w-0.2071918746486116) <= 1e-9) {
			t.Errorf("%s: control %v", mode, w)
		}
	}
}

// The derivatives of a flight, and of a maximum, are those of differences.
func TestNestedDerivatives(t *testing.T) {
	const h = 1e-5
	var etas []float64
	for name, fly := range map[string]flight{"forward": forwardFlight(), "reverse": reverseFlight()} {
		for _, w := range []float64{0, 0.1, 0.2} {
			_, got := fly(w)
			up, _ := fly(w + h)
			down, _ := fly(w - h)
			if want := (up - down) / (2 * h); !(math.Abs(got-want) <= 1e-7*(1+math.Abs(want))) {
				t.Errorf("%s: derivative of the flight at %v is %v, want %v", name, w, got, want)
			}
		}
	}
	for _, outer := range []bool{false, true} {
		for _, inner := range []bool{false, true} {
			s, p, start := saddleMode{outer, inner}, pair{0.5, -2}, pair{1, 3}
			_, g := s.maximum(p, start, &etas)
			for _, along := range []pair{{1, 0}, {0, 1}} {
				a, _ := s.maximum(p.plus(h, along), start, &etas)
				b, _ := s.maximum(p.plus(-h, along), start, &etas)
				if got, want := g.dot(along), (a-b)/(2*h); !(math.Abs(got-want) <= 1e-8) {
					t.Errorf("%+v: derivative of the maximum along %v is %v, want %v", s, along, got, want)
				}
			}
		}
	}
}

// Functions without a minimum, and such that are not finite, are errors.
func TestDescentFails(t *testing.T) {
	if x, err := descend(func(x pair) (float64, pair) { return -100 * x.x, pair{x: -100} }, pair{}, nil); err == nil {
		t.Errorf("descended to %v", x)
	}
	for _, c := range []struct {
		value float64
		slope pair
	}{
		{math.NaN(), pair{}}, {math.Inf(1), pair{1, 0}}, {math.Inf(-1), pair{1, 0}},
		{0, pair{math.NaN(), 1}}, {0, pair{1, math.Inf(1)}}, {0, pair{1e160, 0}},
	} {
		calls := 0
		_, err := descend(func(pair) (float64, pair) { calls++; return c.value, c.slope }, pair{}, nil)
		if calls != 1 || err == nil {
			t.Errorf("%v: %d calls, %v", c, calls, err)
		}
	}
}

// A descent from far away ends, at the saddle or with an error.
func TestSaddleFromAfar(t *testing.T) {
	for _, start := range []string{"[0.5,1e308]", "[1e308,0.5]", "[1e160,1]", "[1,-1e160]", "[1e155,1e155]", "[1e150,1]", "[1,1e150]", "[1e8,-1e8]", "[0,0]"} {
		for _, mode := range modeNames {
			message := `{"id":1,"kind":"evaluate","module":"saddle","function":"` + mode + `","input":{"start":` + start + `}}`
			for i, a := range []answered{talk(t, message)[0], talkTo(t, &Revgen, message)[0]} {
				var p []float64
				switch err := json.Unmarshal(a.Output, &p); {
				case a.Error != "":
					if !strings.Contains(a.Error, "the descent ") {
						t.Errorf("%s, %s, tool %d: %s", start, mode, i, a.Error)
					}
				case err != nil || len(p) != 4 || !(math.Hypot(math.Hypot(p[0], p[1]), math.Hypot(p[2], p[3])) < 1e-4):
					t.Errorf("%s, %s, tool %d: %v, %v", start, mode, i, p, err)
				}
			}
		}
	}
}

func TestSaddleAndParticleErrors(t *testing.T) {
	for _, c := range []struct{ module, in, want string }{
		{"saddle", "{}", `the field "start" is missing`},
		{"saddle", `{"start":[1]}`, "start: expected 2 numbers, found 1"},
		{"saddle", `{"start":[1,null]}`, "expected a number as entry 1"},
		{"particle", "{}", `the field "w" is missing`},
		{"particle", `{"w":-0.5}`, "w: expected a control with which the particle comes down"},
		{"particle", `{"w":"x"}`, "cannot unmarshal string"},
	} {
		a := talk(t, `{"id":1,"kind":"evaluate","module":"`+c.module+`","function":"rf","input":`+c.in+`}`)
		if !strings.Contains(a[0].Error, c.want) {
			t.Errorf("%s: error %q, want %s", c.in, a[0].Error, c.want)
		}
	}
}
