package figure

import (
	"math"

	"gonum.org/v1/plot"
)

// WholeDecades extends a logarithmic axis to whole decades.
func WholeDecades(a *plot.Axis) {
	a.Min = math.Pow(10, math.Floor(math.Log10(a.Min)))
	a.Max = math.Pow(10, math.Ceil(math.Log10(a.Max)))
}

// Decades has the ticks of a logarithmic axis. The function makes the labels, one for
// each power of ten, or for each fifth if there are many.
type Decades func(v float64) string

// Ticks implements plot.Ticker.
func (label Decades) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	many := last-first > 12
	for e := first; e <= last; e++ {
		t := plot.Tick{Value: math.Pow10(e)}
		if !many || e%5 == 0 {
			t.Label = label(t.Value)
		}
		ticks = append(ticks, t)
		if many {
			continue
		}
		for i := 2.; i < 10; i++ {
			ticks = append(ticks, plot.Tick{Value: i * t.Value})
		}
	}
	return ticks
}
