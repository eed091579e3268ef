package numbers_test

import (
	"testing"
	"time"

	"revnum/benchmarks/internal/numbers"
)

// BenchmarkBars prints the ratio of each comparison and its aim, as `go run ./benchmarks numbers` does:
//
//	go test ./benchmarks/internal/numbers -run '^$' -bench Bars/MatMul -benchtime 1x
func BenchmarkBars(b *testing.B) {
	for name, measure := range numbers.All() {
		b.Run(name, func(b *testing.B) {
			var bar numbers.Bar
			for b.Loop() {
				bar = measure(100 * time.Millisecond)
			}
			b.ReportMetric(bar.Time*1e9, "ns")
			b.ReportMetric(bar.Other*1e9, "other-ns")
			b.ReportMetric(bar.Ratio, "ratio")
			b.ReportMetric(bar.Limit, "aim")
		})
	}
}
