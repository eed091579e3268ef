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
	if err := compare(&out, path, 2, 1, 2); err != nil {
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
	if err := json.Unmarshal(results["gmm"].Model, &m); err != nil || m.Components() != 2 {
		t.Errorf("%v, %v", err, out.String())
	}
	for name, r := range results {
		if !(r.Wall > 0 && r.CPU >= 0) {
			t.Errorf("%s takes %v and %v", name, r.Wall, r.CPU)
		}
	}
	if err := compare(&out, path, 7, 1, 1); err == nil || !strings.Contains(err.Error(), "6 points") {
		t.Errorf("7 clusters of 6 points: %v", err)
	}
	if err := compare(&out, "missing.csv", 1, 1, 1); err == nil {
		t.Error("no error without a file")
	}
}
