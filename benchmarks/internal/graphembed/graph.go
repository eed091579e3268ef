package graphembed

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/gonum/graph/graphs/gen"
	"gonum.org/v1/gonum/graph/simple"

	"revnum/internal/memory"
	"revnum/internal/scan"
	"revnum/revmodels/graphembed"
)

// maxVertices bounds the graphs of the experiment, because the dense Hessian has (n·k)²
// elements. For 400 vertices and k = 10 it takes 128 MB.
const maxVertices = 400

// Graph is a graph with names for people.
type Graph struct {
	*graphembed.Graph
	Name   string
	Labels []string // of the vertices
}

// A family is a kind of named graph. Its graphs have the names name:n, or only name if
// build is nil.
type family struct {
	name  string
	least int // n
	build func(dst *simple.UndirectedGraph, n int64)
}

// ids is the IDer of the nodes first, ..., last.
func ids(first, last int64) gen.IDRange { return gen.IDRange{First: first, Last: last} }

var families = []family{
	{name: "petersen"},
	{"complete", 1, func(dst *simple.UndirectedGraph, n int64) { gen.Complete(dst, ids(0, n-1)) }},
	{"cycle", 3, func(dst *simple.UndirectedGraph, n int64) { gen.Cycle(dst, ids(0, n-1)) }},
	{"path", 2, func(dst *simple.UndirectedGraph, n int64) { gen.Path(dst, ids(0, n-1)) }},
	{"star", 2, func(dst *simple.UndirectedGraph, n int64) { gen.Star(dst, 0, ids(1, n-1)) }},
	{"wheel", 4, func(dst *simple.UndirectedGraph, n int64) { gen.Wheel(dst, 0, ids(1, n-1)) }},
	{"tree", 1, func(dst *simple.UndirectedGraph, n int64) { gen.Tree(dst, 2, ids(0, n-1)) }},
}

// Names returns the names of graphs as a list for people.
func Names() string {
	var names []string
	for _, f := range families {
		name := f.name
		if f.build != nil {
			name += ":N"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// Load returns the graph of the given name, such as petersen or cycle:7. For other
// names it reads the edge list in the file of that name, see ReadEdges.
func Load(name string) (*Graph, error) {
	base, number, numbered := strings.Cut(name, ":")
	for _, f := range families {
		switch {
		case f.name != base || f.build == nil && numbered:
			continue
		case f.build == nil:
			return &Graph{Graph: graphembed.Petersen(), Name: name, Labels: numbersTo(10)}, nil
		case !numbered:
			return nil, fmt.Errorf("%s: expected a number of vertices, as in %s:5", name, name)
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < f.least || n > maxVertices {
			return nil, fmt.Errorf("%s: expected %d to %d vertices, found %q", name, f.least, maxVertices, number)
		}
		dst := simple.NewUndirectedGraph()
		f.build(dst, int64(n))
		return fromUndirected(name, dst)
	}
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: neither a file nor one of %s", name, Names())
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ReadEdges(file, name)
}

func fromUndirected(name string, dst *simple.UndirectedGraph) (*Graph, error) {
	g, _, err := graphembed.FromUndirected(dst)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Graph{Graph: g, Name: name, Labels: numbersTo(g.Order())}, nil
}

func numbersTo(n int) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = strconv.Itoa(i)
	}
	return labels
}

// ReadEdges reads an edge list. Each line has the names of two connected vertices,
// separated by spaces, tabs or a comma, or the name of a single vertex. Names are any
// words. Vertices are in the order in which they first appear. Comments begin with # or
// %, and a byte-order mark is skipped. An edge that is given twice, in either
// direction, counts once. The list may be compressed by gzip or bzip2.
//
// Errors name the file and the line. These are errors: a line of another form, a file
// that is no text, an edge from a vertex to itself, and too many vertices.
func ReadEdges(r io.Reader, name string) (*Graph, error) {
	g := &Graph{Name: name}
	index := make(map[string]int)
	var edges [][2]int
	text, err := scan.Uncompress(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	sc := bufio.NewScanner(text)
	line := 0
	fail := func(format string, args ...any) (*Graph, error) {
		return nil, fmt.Errorf("%s:%d: %w", name, line, fmt.Errorf(format, args...))
	}
	for sc.Scan() {
		line++
		text := sc.Text()
		if line == 1 {
			text = strings.TrimPrefix(text, string(scan.Mark))
		}
		if c := strings.IndexAny(text, "#%"); c >= 0 {
			text = text[:c]
		}
		words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == '\r' })
		if len(words) > 2 {
			return fail("expected two vertices, or one, found %d words", len(words))
		}
		var ends []int
		for _, w := range words {
			if i := strings.IndexFunc(w, notText); i >= 0 {
				return fail("expected the name of a vertex, found %.20q", w)
			}
			i, ok := index[w]
			if !ok {
				if i = len(index); i == maxVertices {
					return fail("expected at most %d vertices, found another, %.20q", maxVertices, w)
				}
				index[w] = i
				g.Labels = append(g.Labels, w)
			}
			ends = append(ends, i)
		}
		if len(ends) < 2 {
			continue
		}
		if ends[0] == ends[1] {
			return fail("expected two different vertices, found %.20q twice", words[0])
		}
		if edges, err = memory.Grow(edges, 1, name); err != nil {
			return nil, err
		}
		edges = append(edges, [2]int{ends[0], ends[1]})
	}
	line++
	switch err := sc.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fail("the line is longer than %d bytes", bufio.MaxScanTokenSize)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(g.Labels) == 0:
		return fail("expected vertices, found none")
	}
	if g.Graph, err = graphembed.NewGraph(len(g.Labels), edges); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return g, nil
}

// notText reports whether r does not occur in text: a control character, or the
// replacement for bytes that are not UTF-8.
func notText(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }
