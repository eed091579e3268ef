package gradient

import "slices"

// sunk returns statements in which what only one side of a branch gives a cotangent to do comes to that side:
//
//	aBar := 0.0                     if c {
//	if c {                              aBar := g
//		aBar += g              →        xBar += aBar * d
//	}                               }
//	xBar += aBar * d
//
// Values stay where they are: 0 times NaN is not 0. So do lists in which nothing goes back, whose variables may be read
// elsewhere.
func sunk(list []stmt, goesBack bool) []stmt {
	list = cloned(list)
	for i := 0; i < len(list); i++ {
		switch s := list[i].(type) {
		case *ranged:
			s.body = sunk(s.body, goesBack || s.fused)
		case *while:
			s.body = sunk(s.body, goesBack)
		case *branch:
			var others []stmt
			if goesBack {
				if others = sunkInto(list, i, &s.then, s.els); others == nil {
					others = sunkInto(list, i, &s.els, s.then)
				}
			}
			if others != nil {
				list, i = others, -1
			} else {
				s.then, s.els = sunk(s.then, goesBack), sunk(s.els, goesBack)
			}
		}
	}
	return list
}

// sunkInto moves what comes after the branch list[i] into one side of it, and returns the other statements, or nil if
// there is nothing to move.
func sunkInto(list []stmt, i int, side *[]stmt, other []stmt) (out []stmt) {
	zeros := map[*variable]bool{} // 0 if the branch does not go to that side
	defined := map[int]*variable{}
	within, beside := mentions(*side), mentions(other)
	for j, s := range list[:i] {
		if a, ok := s.(*assignment); ok && a.define && isFloat(a.l.typeOf()) && (a.r == nil || isLit(a.r, "0")) {
			v := root(a.l)
			zeros[v] = v.of != nil && within[v] > 0 && beside[v] == 0 && mentionsOf(list[j+1:i], v) == 0 && mentionsOf([]stmt{&effect{list[i].(*branch).cond}}, v) == 0
			defined[j] = v
		}
	}
	end, own := i, map[*variable]bool{}
	for k := i + 1; k < len(list) && idle(list[k:k+1], zeros); k++ {
		a, ok := list[k].(*assignment)
		if ok && a.define {
			own[root(a.l)] = true
			continue
		}
		after := mentions(list[k+1:])
		alone := true
		for v := range own {
			alone = alone && after[v] == 0
		}
		if alone {
			end = k
		}
	}
	if end == i {
		return nil
	}
	moved := list[i+1 : end+1]
	*side = append(*side, moved...)
	gone := map[int]bool{}
	rest := mentions(list[end+1:])
	within = mentions(*side)
	for j, s := range slices.Backward(list[:i]) {
		if v := defined[j]; v != nil && zeros[v] && rest[v] == 0 && within[v] > 0 {
			*side = append([]stmt{s}, *side...)
			gone[j] = true
		}
	}
	for j, s := range list {
		if !gone[j] && (j <= i || j > end) {
			out = append(out, s)
		}
	}
	return out
}
