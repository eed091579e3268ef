package bundle_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"revnum/program/bundle"
	"revnum/revmodels/ba"
)

func TestPLY(t *testing.T) {
	p := &ba.Problem{
		Cameras: []float64{
			0, 0, 0, 0, 0, -5, 500, -0.1, 0.01,
			0.1, -0.2, 0.05, 0.5, 0, -5, 510, 0, 0,
		},
		Points:   []float64{0, 0, 0, 1, 0.5, -0.25, -1, 0.125, 0.3},
		Camera:   []int{0, 1, 0, 1, 1},
		Point:    []int{0, 0, 1, 1, 2},
		Features: []float64{0, 0, 12.5, -3, 99, 51, 80, 33.75, -120, 7},
	}
	var b bytes.Buffer
	if err := bundle.WritePLY(&b, p); err != nil {
		t.Fatal(err)
	}
	header, body, _ := strings.Cut(b.String(), "end_header\n")
	if !strings.HasPrefix(header, "ply\nformat ascii 1.0\n") {
		t.Errorf("header %q", header)
	}
	var vertices, edges int
	for _, line := range strings.Split(header, "\n") {
		_, _ = fmt.Sscanf(line, "element vertex %d", &vertices)
		_, _ = fmt.Sscanf(line, "element edge %d", &edges)
	}
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if vertices != 3+5*2 || edges != 8*2 || len(lines) != vertices+edges {
		t.Fatalf("%d vertices, %d edges, %d lines", vertices, edges, len(lines))
	}
	if lines[1] != "1 0.5 -0.25 200 200 200" {
		t.Errorf("point 1 is %q", lines[1])
	}
	// The first camera has not turned, and t = (0, 0, -5).
	if lines[3] != "0 0 5 255 60 30" {
		t.Errorf("camera 0 is at %q", lines[3])
	}
	var x, y, z float64
	if _, err := fmt.Sscan(lines[4], &x, &y, &z); err != nil || !(z < 5) || !(x < 0) || !(y < 0) {
		t.Errorf("its picture is at %q", lines[4])
	}
	for _, line := range lines[vertices:] {
		var i, j int
		if _, err := fmt.Sscan(line, &i, &j); err != nil || i < 3 || j < 3 || i >= vertices || j >= vertices || (i-3)/5 != (j-3)/5 {
			t.Errorf("edge %q", line)
		}
	}

	p.Features[0] = math.Inf(1)
	if err := bundle.WritePLY(&b, p); err == nil {
		t.Error("no error from a problem with an infinite feature")
	}
	if err := bundle.WritePLY(&b, new(ba.Problem)); err != nil {
		t.Error(err)
	}
}
