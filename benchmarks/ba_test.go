package main

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"revnum/revmodels/ba"
)

func TestGenBA(t *testing.T) {
	dir := t.TempDir()
	for _, kind := range []string{"ring", "city"} {
		start, truth := filepath.Join(dir, kind+".txt.gz"), filepath.Join(dir, kind+"_truth.txt")
		args := []string{"gen", "ba", "--kind", kind, "--cameras", "20", "--points", "100", "--observations", "400", "--noise", "0", "--seed", "3"}
		must(t, append(args, "-o", start, "--truth", truth)...)
		p, err := ba.ReadFile(start)
		if err != nil {
			t.Fatal(err)
		}
		if p.NumCameras() != 20 || p.NumPoints() != 100 || p.NumObservations() != 400 {
			t.Errorf("%s: %d cameras, %d points, %d observations", kind, p.NumCameras(), p.NumPoints(), p.NumObservations())
		}
		q, err := ba.ReadFile(truth)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p.Features, q.Features) || reflect.DeepEqual(p.Cameras, q.Cameras) || reflect.DeepEqual(p.Points, q.Points) {
			t.Errorf("%s: without noise, the features and nothing else are those of the solution", kind)
		}
		again, err := ba.Read(strings.NewReader(must(t, args...)), kind)
		if err != nil || !reflect.DeepEqual(p, again) {
			t.Errorf("%s: printed another problem, %v", kind, err)
		}
	}
	for want, args := range map[string][]string{
		`--kind: expected one of ring, city, found "town"`: {"--kind", "town"},
		"1 cameras, expected 2 or more":                    {"--cameras", "1"},
		"cannot write: bzip2 is read only":                 {"-o", filepath.Join(dir, "x.bz2"), "--points", "10", "--observations", "20"},
		"no such file":                                     {"--truth", filepath.Join(dir, "no", "x"), "--points", "10", "--observations", "20"},
		"the problem":                                      {"--observations", "1000000000000000", "--points", "1000000000000"},
	} {
		status, _, stderr := run("", append([]string{"gen", "ba"}, args...)...)
		if status != 1 || !strings.Contains(stderr, want) || strings.Contains(stderr, "bug") {
			t.Errorf("%v: exit status %d, %q, want 1 and %q", args, status, stderr, want)
		}
	}
}
