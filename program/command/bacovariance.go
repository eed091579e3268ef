package command

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"revnum/program"
	"revnum/revmodels/ba"
)

// parameters are the names of the nine parameters of a camera.
var parameters = [...]string{"r1", "r2", "r3", "t1", "t2", "t3", "f", "k1", "k2"}

// writeCovariance writes the covariance of the parameters of cameras: a line with the
// names of the columns, and then a line for each row.
func (f *solveFlags) writeCovariance(cmd *cobra.Command, p *ba.Problem, opts *ba.Options) error {
	free := f.free
	if free == -1 {
		free = gauge(len(opts.FixedCameras), len(opts.FixedPoints))
	}
	c, err := ba.CameraCovariance(p, opts, free)
	if err != nil {
		return fmt.Errorf("--covariance: with %s: %w", count(free, "free direction"), err)
	}
	n := c.SymmetricDim()
	return program.WriteOutput(cmd, f.covariance, func(w io.Writer) error {
		table, row := csv.NewWriter(w), make([]string, n)
		for j := range row {
			row[j] = fmt.Sprintf("camera%d.%s", j/len(parameters), parameters[j%len(parameters)])
		}
		if err := table.Write(row); err != nil {
			return err
		}
		for i := range n {
			for j := range row {
				row[j] = strconv.FormatFloat(c.At(i, j), 'g', -1, 64)
			}
			if err := table.Write(row); err != nil {
				return err
			}
		}
		table.Flush()
		return table.Error()
	})
}

// gauge returns the dimension of the changes of coordinates (shifts, rotations and a
// scale) that leave the given numbers of cameras and points in place.
func gauge(cameras, points int) int {
	switch {
	case cameras == 0 && points < 3:
		return 7 - 3*points
	case cameras == 1 && points == 0:
		return 1
	}
	return 0
}
