package main

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

func TestFused(t *testing.T) { analysistest.Run(t, analysistest.TestData(), fused, "sample/fused") }

func TestRaw(t *testing.T) { analysistest.Run(t, analysistest.TestData(), raw, "sample/raw") }

func TestLogs(t *testing.T) { analysistest.Run(t, analysistest.TestData(), logs, "sample/logs") }
