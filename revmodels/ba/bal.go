package ba

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"revnum/internal/memory"
	"revnum/internal/outfile"
	"revnum/internal/scan"
)

// maxCount bounds the counts in the headers of files. The product of a count with the
// numbers for each then does not overflow.
const maxCount = math.MaxInt / 16

// ReadFile reads the file at path as Read does.
func ReadFile(path string) (*Problem, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads a problem, plain or compressed by gzip or bzip2. The first lines tell
// which of two forms it has:
//
//   - The form of the problems of Bundle Adjustment in the Large (BAL): the numbers of
//     cameras, points and observations; the camera, the point, x and y of each
//     observation; the nine parameters of each camera; the three coordinates of each
//     point.
//   - The form of Bundler's files .out of version 0.3. Colours and keys are ignored. A
//     camera without a focal length, which is a picture that Bundler could not place,
//     keeps its number, has nine zeros for parameters, and sees nothing.
//
// Errors begin with name and the number of a line, and say what was expected there.
// Numbers that are not finite, indices out of range, and files that end early or late
// are errors. A byte-order mark is skipped. Memory grows with what is read, whatever
// the header claims, and it is an error if it does not suffice.
func Read(r io.Reader, name string) (*Problem, error) {
	b, err := scan.Uncompress(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if start, _ := b.Peek(len(scan.Mark) + 1); bytes.HasPrefix(bytes.TrimPrefix(start, scan.Mark), []byte("#")) {
		return readBundler(b, name)
	}
	return readBAL(b, name)
}

func readBAL(r io.Reader, name string) (*Problem, error) {
	s := scan.New(r, name)
	var count [3]int
	for i, what := range []string{"cameras", "points", "observations"} {
		var err error
		if count[i], err = s.Int("the number of "+what+" of a BAL file, or # Bundle file v0.3", 0, maxCount); err != nil {
			return nil, err
		}
	}
	cameras, points, observations := count[0], count[1], count[2]

	p := new(Problem)
	var i int
	camera, point := indexRange("camera", cameras), indexRange("point", points)
	what := func(j int) string {
		return fmt.Sprintf("coordinate %d of 2 of observation %d of %d", j+1, i+1, observations)
	}
	for i = range observations {
		c, err := s.Int(camera, 0, cameras-1)
		if err != nil {
			return nil, err
		}
		q, err := s.Int(point, 0, points-1)
		if err != nil {
			return nil, err
		}
		if err := p.observe(c, q, s, what); err != nil {
			return nil, err
		}
	}
	var err error
	p.Cameras, err = appendFloats(nil, s, cameraLen*cameras, func(j int) string {
		return fmt.Sprintf("parameter %d of 9 of camera %d of %d", j%cameraLen+1, j/cameraLen+1, cameras)
	})
	if err != nil {
		return nil, err
	}
	p.Points, err = appendFloats(nil, s, pointLen*points, func(j int) string {
		return fmt.Sprintf("coordinate %d of 3 of point %d of %d", j%pointLen+1, j/pointLen+1, points)
	})
	if err != nil {
		return nil, err
	}
	return p, s.End()
}

// observe appends an observation of point q by camera c, whose coordinates s reads.
func (p *Problem) observe(c, q int, s *scan.Scanner, what func(j int) string) (err error) {
	if p.Camera, err = memory.Grow(p.Camera, 1, s.Name()); err != nil {
		return err
	}
	if p.Point, err = memory.Grow(p.Point, 1, s.Name()); err != nil {
		return err
	}
	p.Camera, p.Point = append(p.Camera, c), append(p.Point, q)
	p.Features, err = appendFloats(p.Features, s, 2, what)
	return err
}

// indexRange says which indices n things have.
func indexRange(of string, n int) string {
	if n == 0 {
		return "no observation, where there is no " + of
	}
	return fmt.Sprintf("the index of a %s, 0 to %d", of, n-1)
}

// appendFloats appends n numbers to x. what says what they belong to.
func appendFloats(x []float64, s *scan.Scanner, n int, what func(i int) string) ([]float64, error) {
	var i int
	finite := func() string { return "a finite number for " + what(i) }
	for i = range n {
		v, err := s.Float(finite)
		if err != nil {
			return nil, err
		}
		if x, err = memory.Grow(x, 1, s.Name()); err != nil {
			return nil, err
		}
		x = append(x, v)
	}
	return x, nil
}

// WriteFile writes p to the file at path as WriteBAL does, compressed if the name ends
// in .gz. If that fails, the file is as it was before.
func WriteFile(path string, p *Problem) error {
	write := func(w io.Writer) error { return WriteBAL(w, p) }
	switch strings.ToLower(filepath.Ext(path)) {
	case ".bz2":
		return fmt.Errorf("%s: cannot write: bzip2 is read only, use .gz", path)
	case ".gz":
		write = func(w io.Writer) error {
			z := gzip.NewWriter(w)
			if err := WriteBAL(z, p); err != nil {
				return err
			}
			return z.Close()
		}
	}
	return outfile.Write(path, write)
}

// WriteBAL writes p in the form of the problems of Bundle Adjustment in the Large. Read
// returns the same bits.
func WriteBAL(w io.Writer, p *Problem) error {
	if err := p.Validate(); err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintln(b, p.NumCameras(), p.NumPoints(), p.NumObservations())
	var line []byte
	for i, c := range p.Camera {
		line = strconv.AppendInt(line[:0], int64(c), 10)
		line = strconv.AppendInt(append(line, ' '), int64(p.Point[i]), 10)
		for _, v := range p.Features[2*i : 2*i+2] {
			line = strconv.AppendFloat(append(line, ' '), v, 'g', -1, 64)
		}
		_, _ = b.Write(append(line, '\n')) // Flush has the error
	}
	for _, x := range [][]float64{p.Cameras, p.Points} {
		for _, v := range x {
			line = strconv.AppendFloat(line[:0], v, 'g', -1, 64)
			_, _ = b.Write(append(line, '\n'))
		}
	}
	return b.Flush()
}
