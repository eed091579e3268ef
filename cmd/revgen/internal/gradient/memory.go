package gradient

import (
	"slices"
	"strings"
)

// kept returns lines that say what the forward sweep puts on tapes, in the order in which it does.
func (f *function) kept(forward []stmt) (lines []string) {
	w := &writer{pkg: f.Pkg, imports: &imports{}, tapes: map[string]string{}}
	var items []string
	var walk func(list []stmt, loops []string)
	walk = func(list []stmt, loops []string) {
		for _, s := range list {
			switch s := s.(type) {
			case *push:
				item := w.expr(s.x, 0)
				if s.whole {
					item = "the elements of " + item
				}
				if len(loops) > 0 {
					item += " for each " + strings.Join(loops, " and ")
				}
				items = append(items, item)
			case *branch:
				walk(s.then, loops)
				walk(s.els, loops)
			case *ranged:
				if s.fused { // what an iteration saves is gone at its end
					walk(s.body, loops)
				} else {
					walk(s.body, append(slices.Clone(loops), s.v.name))
				}
			case *while:
				walk(s.body, append(slices.Clone(loops), "iteration"))
			}
		}
	}
	walk(forward, nil)
	if len(items) == 0 {
		return nil
	}
	const width = 90
	line := "On tapes it saves"
	for i, item := range items {
		if i < len(items)-1 {
			item += ","
		} else {
			item += "."
		}
		for word := range strings.FieldsSeq(item) {
			if len(line)+len(word) > width {
				lines, line = append(lines, line), word
			} else {
				line += " " + word
			}
		}
	}
	return append(lines, line)
}
