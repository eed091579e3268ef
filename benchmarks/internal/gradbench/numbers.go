package gradbench

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"unsafe"
)

// A number is encoded as GradBench's other tools do it: with a point or an exponent,
// even if it is whole.
type number float64

func appendNumber(to []byte, x float64) []byte {
	begin := len(to)
	to = strconv.AppendFloat(to, x, 'g', -1, 64)
	if !bytes.ContainsAny(to[begin:], ".e") {
		to = append(to, ".0"...)
	}
	return to
}

// numbers is an array of numbers. Unlike []float64, it does not accept null as zero.
// Each element is encoded as a number is.
type numbers []float64

// writeValue writes an output as JSON, as it goes: package json would hold the text of a
// large Jacobian three times. v is a number, an int, numbers, a slice of outputs, or a
// struct of outputs whose fields have json tags. Its numbers must be finite.
func writeValue(w *bufio.Writer, v reflect.Value) {
	list := func(n int, brackets string, each func(i int)) {
		_ = w.WriteByte(brackets[0])
		for i := range n {
			if i > 0 {
				_ = w.WriteByte(',')
			}
			each(i)
		}
		_ = w.WriteByte(brackets[1])
	}
	if x, ok := v.Interface().(numbers); ok {
		list(len(x), "[]", func(i int) { writeNumber(w, x[i]) })
		return
	}
	switch v.Kind() {
	case reflect.Float64:
		writeNumber(w, v.Float())
	case reflect.Int, reflect.Int32:
		_, _ = w.Write(strconv.AppendInt(w.AvailableBuffer(), v.Int(), 10))
	case reflect.Slice:
		list(v.Len(), "[]", func(i int) { writeValue(w, v.Index(i)) })
	case reflect.Struct:
		list(v.NumField(), "{}", func(i int) {
			fmt.Fprintf(w, "%q:", v.Type().Field(i).Tag.Get("json"))
			writeValue(w, v.Field(i))
		})
	default:
		panic(fmt.Sprintf("an output of type %v", v.Type()))
	}
}

func writeNumber(w *bufio.Writer, x float64) { _, _ = w.Write(appendNumber(w.AvailableBuffer(), x)) }

// whole is an integer. It may be written as 3 or as 3.0.
type whole int64

// UnmarshalJSON reads data, which package json has found to be well formed.
func (n *whole) UnmarshalJSON(data []byte) error {
	v, err := strconv.ParseFloat(string(data), 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return fmt.Errorf("expected a whole number, found %s", start(data))
	}
	*n = whole(v)
	return nil
}

// UnmarshalJSON reads data, which package json has found to be well formed.
func (x *numbers) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if data[0] != '[' {
		return fmt.Errorf("expected an array of numbers, found %s", start(data))
	}
	*x = make(numbers, 0, bytes.Count(data, []byte{','})+1)
	data = bytes.TrimSpace(data[1:])
	for data[0] != ']' {
		end := bytes.IndexAny(data, ",]")
		if c := data[0]; c != '-' && (c < '0' || c > '9') {
			return fmt.Errorf("expected a number as entry %d, found %s", len(*x), start(data))
		}
		text := bytes.TrimSpace(data[:end])
		v, err := strconv.ParseFloat(unsafe.String(&text[0], len(text)), 64) // a copy would be garbage
		if err != nil {
			return fmt.Errorf("entry %d: %w", len(*x), err)
		}
		*x = append(*x, v)
		if data[end] == ']' {
			break
		}
		data = bytes.TrimSpace(data[end+1:])
	}
	return nil
}

// start returns at most 20 bytes of data, for messages.
func start(data []byte) string {
	if len(data) > 20 {
		return string(data[:20]) + "..."
	}
	return string(data)
}
