// The revcuda command measures the kernels of package cuda on a GPU. Build it with the tag
// cuda:
//
//	go run -tags cuda ./cmd/revcuda bench
//
// It prints the time of each kernel on the device, its rate, and which fraction that is of the
// card's rate of copies, of multiply-adds, or of multiply-adds on tensor cores, all measured in
// the same run.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"revnum/cuda"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "revcuda:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) (err error) {
	if len(args) == 0 || args[0] != "bench" {
		return errors.New("usage: revcuda bench [-device N] [-size N] [-reps N] [-json]")
	}
	flags := flag.NewFlagSet("revcuda bench", flag.ContinueOnError)
	device := flags.Int("device", 0, "`number` of the device")
	size := flags.Int("size", 1<<26, "length of vectors; products are of matrices with half its square root of rows")
	reps := flags.Int("reps", 10, "how often a pass runs")
	asJSON := flags.Bool("json", false, "print JSON")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *size < 1 || *reps < 1 || flags.NArg() > 0 {
		return fmt.Errorf("want a positive size and number of runs, found %q", args[1:])
	}
	dev, err := cuda.Open(*device)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	rates, err := cuda.Bench(dev, *size, *reps)
	if err != nil {
		return err
	}
	return write(out, dev.Properties(), rates, *asJSON)
}

// write prints the rates as a table or as JSON.
func write(out io.Writer, p cuda.Properties, rates []cuda.Rate, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "\t")
		return e.Encode(map[string]any{"device": p.Name, "capability": p.Capability, "rates": rates})
	}
	fmt.Fprintf(out, "%s, compute capability %d.%d, float64\n", p.Name, p.Capability/10, p.Capability%10)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "kernel\tµs\tGB/s\tGFLOP/s\tfraction\tof\t")
	for _, r := range rates {
		fmt.Fprintf(w, "%s\t%.1f\t%s\t%s\t%.2f\t%s\t\n", r.Name, r.Seconds*1e6, rate(r.Bytes, r.Seconds), rate(r.Flops, r.Seconds), r.Peak, r.Of)
	}
	return w.Flush()
}

func rate(amount, seconds float64) string {
	if amount == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", amount/seconds/1e9)
}
