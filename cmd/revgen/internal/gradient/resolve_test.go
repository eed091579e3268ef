// A test of the package itself makes the go command compile it twice, and so the tag long adds this one.

//go:build long

package gradient

import (
	"go/token"
	"go/types"
	"testing"
)

// What clears a cotangent and adds to it stores, unless the sum reads cotangents in memory: they may be the one that is
// cleared, under another name.
func TestMergedCotangents(t *testing.T) {
	slice := types.NewSlice(float)
	bar := func(name string) expr {
		return &element{ref(&variable{name: name, typ: slice, of: &variable{}}), integerLit(0), float}
	}
	x, y := bar("xBar"), bar("yBar")
	w := &element{ref(&variable{name: "w", typ: slice}), integerLit(0), float}
	row := &part{x: y.(*element).x, hi: integerLit(2)}
	for _, c := range []struct {
		op   token.Token
		sum  expr
		want string
	}{
		{token.ADD_ASSIGN, w, "w[0]"},
		{token.SUB_ASSIGN, w, "-w[0]"},
		{token.ADD_ASSIGN, y, ""},
		{token.ADD_ASSIGN, &binary{token.MUL, w, y, float}, ""},
		{token.ADD_ASSIGN, &call{"num.Inner", numPath, []expr{w.x, row}, float}, ""},
		{token.ASSIGN, w, ""},
	} {
		list := merged([]stmt{&assignment{l: x, op: token.ASSIGN, r: number("0")}, &assignment{l: x, op: c.op, r: c.sum}})
		switch {
		case c.want == "" && len(list) != 2:
			t.Errorf("xBar[0] = 0; xBar[0] %s %s is one statement", c.op, text(c.sum))
		case c.want != "" && (len(list) != 1 || text(list[0].(*assignment).r) != c.want):
			t.Errorf("xBar[0] = 0; xBar[0] %s %s is not xBar[0] = %s", c.op, text(c.sum), c.want)
		}
	}
}
