package adbench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"revnum/benchmarks/internal/problem"
	"revnum/rev"
	"revnum/revsparse"
)

// writeErrors writes the errors of a BA problem in the form of ADBench's runners.
func writeErrors[T rev.Float](w io.Writer, o *problem.BAObjective[T]) error {
	b := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintln(b, "Reprojection error:")
	err := WriteNumbers(b, o.Kernel.R.Data)
	fmt.Fprintln(b, "Zach weight error:")
	return errors.Join(err, WriteNumbers(b, o.Kernel.Z.Data), b.Flush())
}

// writeSparse writes a Jacobian in the form of ADBench's runners: the numbers of
// rows and columns; the number of row pointers and the row pointers; the number of
// column indices and the column indices; the values.
func writeSparse[T rev.Float](w io.Writer, a revsparse.CSR[T, int32]) error {
	b := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(b, "%d %d\n", a.Rows, a.Cols)
	var word []byte
	for _, x := range [][]int32{a.Ptr, a.Ind} {
		fmt.Fprintln(b, len(x))
		for _, v := range x {
			word = append(strconv.AppendInt(word[:0], int64(v), 10), ' ')
			_, _ = b.Write(word)
		}
		fmt.Fprintln(b)
	}
	for _, v := range a.Data {
		word = append(appendNumber(word[:0], float64(v)), ' ')
		_, _ = b.Write(word)
	}
	return b.Flush()
}

// writeDense writes a Jacobian in the form of ADBench's runners: one row per line,
// with tabs.
func writeDense[T rev.Float](w io.Writer, a rev.General[T]) error {
	b := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	for i := range a.Rows {
		line = line[:0]
		for j, v := range a.Row(i) {
			if j > 0 {
				line = append(line, '\t')
			}
			line = appendNumber(line, float64(v))
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}

// WriteNumbers writes one number per line.
func WriteNumbers[T rev.Float](w io.Writer, x []T) error {
	var line []byte
	for _, v := range x {
		line = append(appendNumber(line[:0], float64(v)), '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// appendNumber appends v as C++ prints it with 17 digits after the point.
func appendNumber(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, "nan"...)
	case math.IsInf(v, 1):
		return append(b, "inf"...)
	case math.IsInf(v, -1):
		return append(b, "-inf"...)
	}
	return strconv.AppendFloat(b, v, 'e', 17, 64)
}
