package hand

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxLine is the longest line that is read, in bytes.
const maxLine = 1 << 20

// LoadModel reads the files bones.txt, vertices.txt and triangles.txt of a folder. Their
// lines have fields between colons:
//
//	bones:     name, parent, the 4×4 matrices Relative and InverseBase by rows
//	vertices:  x, y, z, five numbers that are not used, how many weights follow, and of
//	           each weight the bone and the value
//	triangles: three vertices, of which the first is 0
//
// Errors name the file and the line.
func LoadModel(dir string) (*Model, error) {
	files := map[string]io.Reader{}
	for _, name := range []string{"bones.txt", "vertices.txt", "triangles.txt"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("a model of a hand: %w", err)
		}
		defer func() { _ = f.Close() }()
		files[name] = f
	}
	return readModel(dir+string(filepath.Separator), files["bones.txt"], files["vertices.txt"], files["triangles.txt"])
}

// readModel reads the files of LoadModel from readers. Errors name each file by prefix
// and its name.
func readModel(prefix string, bones, vertices, triangles io.Reader) (*Model, error) {
	m := new(Model)
	err := eachLine(bones, prefix+"bones.txt", func(l *line) error {
		b := Bone{Name: l.next(), Parent: l.int()}
		for _, a := range []*Affine{&b.Relative, &b.InverseBase} {
			l.affine(a)
		}
		if l.err == nil {
			l.err = b.check(len(m.bones))
		}
		m.bones = append(m.bones, b)
		return l.end()
	})
	if err != nil {
		return nil, err
	}
	if len(m.bones) < Bones {
		return nil, fmt.Errorf("%sbones.txt: expected at least %d bones, found %d", prefix, Bones, len(m.bones))
	}
	err = eachLine(vertices, prefix+"vertices.txt", func(l *line) error {
		var v Vertex
		for d := range v.Position {
			v.Position[d] = l.float()
		}
		for range 5 {
			l.next()
		}
		for n := l.int(); n > 0 && l.err == nil; n-- {
			v.Weights = append(v.Weights, Weight{l.int(), l.float()})
		}
		if l.err == nil {
			l.err = v.check(len(m.bones))
		}
		m.vertices = append(m.vertices, v)
		return l.end()
	})
	if err != nil {
		return nil, err
	}
	err = eachLine(triangles, prefix+"triangles.txt", func(l *line) error {
		t := [3]int{l.int(), l.int(), l.int()}
		for _, v := range t {
			if l.err == nil && (v < 0 || v >= len(m.vertices)) {
				l.err = fmt.Errorf("expected vertices from 0 to %d, found %d", len(m.vertices)-1, v)
			}
		}
		m.triangles = append(m.triangles, t)
		return l.end()
	})
	if err != nil {
		return nil, err
	}
	return NewModel(m.bones, m.vertices, m.triangles, false)
}

// eachLine calls read for each line that is not empty.
func eachLine(r io.Reader, name string, read func(l *line) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	n := 1
	for ; s.Scan(); n++ {
		text := strings.TrimSpace(s.Text())
		if text == "" {
			continue
		}
		if err := read(&line{fields: strings.Split(text, ":")}); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%s:%d: a line of more than %d bytes", name, n, maxLine)
	} else if err != nil {
		return fmt.Errorf("%s:%d: %w", name, n, err)
	}
	return nil
}

// A line is read field by field. The first error stays.
type line struct {
	fields []string
	at     int
	err    error
}

func (l *line) next() string {
	if l.at == len(l.fields) {
		l.fail("another field", "the end of the line")
		return ""
	}
	l.at++
	return l.fields[l.at-1]
}

func (l *line) fail(expected, found string) {
	if l.err == nil {
		l.err = fmt.Errorf("expected %s as field %d, found %s", expected, l.at+1, found)
	}
}

func (l *line) int() int {
	s := l.next()
	v, err := strconv.Atoi(s)
	if err != nil && l.err == nil {
		l.at--
		l.fail("an integer", strconv.Quote(s))
	}
	return v
}

func (l *line) float() float64 {
	s := l.next()
	v, err := strconv.ParseFloat(s, 64)
	if (err != nil || !finite(v)) && l.err == nil {
		l.at--
		l.fail("a finite number", strconv.Quote(s))
	}
	return v
}

// affine reads a 4×4 matrix, of which the last row must be 0, 0, 0, 1.
func (l *line) affine(a *Affine) {
	for i := range a {
		for j := range a[i] {
			a[i][j] = l.float()
		}
	}
	for j := range 4 {
		want := j / 3
		if v := l.float(); l.err == nil && v != float64(want) {
			l.at--
			l.fail(fmt.Sprintf("%d in the last row of a transform", want), fmt.Sprint(v))
		}
	}
}

// end returns the first error, or one if there are more fields.
func (l *line) end() error {
	if l.err == nil && l.at < len(l.fields) {
		l.fail("the end of the line", strconv.Quote(l.fields[l.at]))
	}
	return l.err
}
