package numbers

import (
	"testing"
	"time"
)

// BenchmarkBars prints the ratio of each comparison and its aim, as `go run ./benchmarks numbers` does:
//
//	go test ./benchmarks/internal/numbers -run '^$' -bench Bars/MatMul -benchtime 1x
func BenchmarkBars(b *testing.B) {
	for _, c := range contests() {
		b.Run(c.name+" beside "+c.against, func(b *testing.B) {
			var bar Bar
			for b.Loop() {
				bar = c.measure(100 * time.Millisecond)
			}
			b.ReportMetric(bar.Time*1e9, "ns")
			b.ReportMetric(bar.Other*1e9, "other-ns")
			b.ReportMetric(bar.Ratio, "ratio")
			b.ReportMetric(bar.Limit, "aim")
		})
	}
}
