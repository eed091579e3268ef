//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"revnum/revmodels/gmm"
	"revnum/revmodels/kmeans"
)

func TestCompare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("1,1\n1,2\n2,1\n9,9\n9,8\n8,9\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := compare(&out, path, []string{"kmeans", "full", "tied"}, options{k: 2, seed: 1, repeat: 2}); err != nil {
		t.Fatal(err)
	}
	var results map[string]struct {
		Wall, CPU float64
		Model     json.RawMessage
	}
	if err := json.Unmarshal(out.Bytes(), &results); err != nil {
		t.Fatal(err)
	}
	var c kmeans.Clustering
	var m gmm.Mixture
	if err := json.Unmarshal(results["kmeans"].Model, &c); err != nil || len(c.Labels()) != 6 {
		t.Errorf("%v, %v", err, out.String())
	}
	for _, kind := range []string{"full", "tied"} {
		if err := json.Unmarshal(results[kind].Model, &m); err != nil || m.Components() != 2 || m.Covariance().String() != kind {
			t.Errorf("%v, %v", err, out.String())
		}
	}
	for name, r := range results {
		if !(r.Wall > 0 && r.CPU >= 0) {
			t.Errorf("%s takes %v and %v", name, r.Wall, r.CPU)
		}
	}
	if err := compare(&out, path, []string{"full"}, options{k: 7, repeat: 1}); err == nil || !strings.Contains(err.Error(), "6 points") {
		t.Errorf("7 clusters of 6 points: %v", err)
	}
	if err := compare(&out, "missing.csv", nil, options{k: 1, repeat: 1}); err == nil {
		t.Error("no error without a file")
	}
	if err := compare(&out, path, []string{"round"}, options{k: 2, repeat: 1}); err == nil || !strings.Contains(err.Error(), "round") {
		t.Errorf("a method that is none: %v", err)
	}
}
