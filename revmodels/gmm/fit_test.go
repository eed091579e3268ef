package gmm

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// readFaithful returns the eruptions of Old Faithful, and skips the test where
// that file is not at hand.
func readFaithful(t *testing.T) *mat.Dense {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "gmm", "faithful.csv"))
	if err != nil {
		t.Skip("the eruptions of Old Faithful are not here: ", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(len(rows)-1, 2, nil)
	for i, row := range rows[1:] {
		for j, s := range row {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			x.Set(i, j, v)
		}
	}
	return x
}

func TestFaithful(t *testing.T) {
	x := readFaithful(t)
	for k := 1; k < 6; k++ {
		m, r, err := Fit(x, k, &FitOptions{RegCovar: -1})
		if err != nil {
			t.Error(err)
			continue
		}
		t.Logf("\n%v\n%v", r, m)
	}
}
