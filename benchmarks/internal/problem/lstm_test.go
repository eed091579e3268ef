package problem_test

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"revnum/benchmarks/internal/problem"
)

// smallLSTM is a problem with one layer, three characters and two bits.
//
//go:embed testdata/lstm.txt
var smallLSTM string

func readLSTM(s string) (*problem.LSTM, error) {
	return problem.ReadLSTM(strings.NewReader(s), "p.txt", int64(len(s)))
}

func TestReadLSTM(t *testing.T) {
	p, err := readLSTM(smallLSTM)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(p.L, p.C, p.B, p.Main[8:10], p.Extra, p.State, p.Sequence)
	if want := "1 3 2 [-0.1 -0.2] [1 2 0.5 -0.5 0.25 0.75] [0 1 1 0] [1 0 0 1 1 1]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestReadLSTMErrors(t *testing.T) {
	lines := strings.SplitAfter(smallLSTM, "\n")
	edit := func(line int, to string) string {
		l := append([]string(nil), lines...)
		l[line-1] = to
		return strings.Join(l, "")
	}
	for name, c := range map[string]struct{ in, want string }{
		"empty":           {"", "p.txt:1: expected the number of layers l, an integer of at least 0, found the end of the file"},
		"negative layers": {edit(1, "-1 3 2\n"), `p.txt:1: expected the number of layers l, an integer of at least 0, found "-1"`},
		"no characters":   {edit(1, "1 0 2\n"), `p.txt:1: expected the number of characters c, a positive integer, found "0"`},
		"no bits":         {edit(1, "1 3 0\n"), `p.txt:1: expected the number of bits b, a positive integer, found "0"`},
		"overflow":        {edit(1, "9223372036854775807 3 2\n"), "p.txt:1: l = 9223372036854775807, c = 3, b = 2: the sizes overflow"},
		"c*b overflows":   {edit(1, "1 4611686018427387904 4\n"), "p.txt:1: l = 1, c = 4611686018427387904, b = 4: the sizes overflow"},
		"too large":       {edit(1, "1 3000000 2\n"), "p.txt:1: l = 1, c = 3000000, b = 2: expected 6000026 numbers, more than the file's"},
		"NaN":             {edit(4, "-0.1 NaN -0.3 -0.4 -0.5 -0.6 -0.7 -0.8\n"), `p.txt:4: expected a finite number for parameters 2 of 2, entry 2 of 8, found "NaN"`},
		"infinite":        {edit(11, "1 Inf\n"), `p.txt:11: expected a finite number for state 2 of 2, entry 2 of 2, found "Inf"`},
		"ragged":          {edit(7, "0.5\n"), "line 7, near extra parameters 2 of 3"},
		"truncated":       {strings.Join(lines[:14], ""), "p.txt:15: expected a finite number for character 3 of 3, entry 1 of 2, found the end of the file"},
		"trailing":        {smallLSTM + "7\n", `p.txt:16: expected the end of the file, found "7"`},
	} {
		if _, err := readLSTM(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
}

func FuzzReadLSTM(f *testing.F) {
	f.Add([]byte(smallLSTM))
	f.Add([]byte("0 1 1 1 1 1 1"))
	f.Add([]byte("1 9223372036854775807 2"))
	f.Fuzz(func(t *testing.T, in []byte) {
		p, err := problem.ReadLSTM(bytes.NewReader(in), "p.txt", int64(len(in)))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "p.txt:") {
				t.Errorf("error %v does not name the file", err)
			}
			return
		}
		if len(p.Main) != 8*p.L*p.B || len(p.Extra) != 3*p.B || len(p.State) != 2*p.L*p.B || len(p.Sequence) != p.C*p.B {
			t.Errorf("sizes of %+v do not fit", p)
		}
		if v := problem.NewLSTMObjective[float64](p).Value(); p.C == 1 && v != 0 {
			t.Errorf("%d characters: loss %v", p.C, v)
		}
	})
}
