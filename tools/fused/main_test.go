package main

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

func TestFused(t *testing.T) { analysistest.Run(t, analysistest.TestData(), analyzer, "sample/sample") }
