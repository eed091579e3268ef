package jsonfile

import (
	"math/big"
	"strings"
	"testing"
)

func TestUnmarshal(t *testing.T) {
	type inner struct {
		Cost float64
		List []int
	}
	type value struct {
		Rows  [][]float64 `json:"rows"`
		Inner inner       `json:"inner,omitempty"`
		Many  []inner
		Maybe *inner
		Big   *big.Int
	}
	for text, want := range map[string]string{
		`{"rows": [[1, 2], [3, null]]}`:           "a value in rows[1][1], found null",
		`{"rows": [null]}`:                        "a value in rows[0], found null",
		`{"inner": {"cost": null}}`:               "a number in inner.cost, found null",
		`{"Many": [{"Cost": 1}, {"Cost": null}]}`: "a number in Many[1].Cost, found null",
		`{"Maybe": {"Cost": null}}`:               "a number in Maybe.Cost, found null",
		`{"rows": null, "inner": {"List": null}, "maybe": null, "Big": null, "other": {"x": null}}`: "",
		`{"rows": [`: "unexpected end",
	} {
		switch err := Unmarshal([]byte(text), new(value)); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
