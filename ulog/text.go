package ulog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// The methods of this file let fmt and the encoding packages write and read the number
// types. The text is that of String. In JSON it is a number if it is decimal, and a
// string otherwise. A reader that keeps numbers in float64 may not be able to hold the
// number.

// String returns the shortest decimal that Parse reads as x, for instance
// 1.234e+5678. It returns exp(log) if |log| >= 2^53 (2^24 for a Float32), or if the decimal
// takes over 21 digits.
func (x Float[L]) String() string { s := x.spell(); return s.string() }

// String returns the shortest decimal that Parse reads as x, for instance
// 1.234e+5678.
func (x Fixed) String() string { s := x.spell(); return s.string() }

// String returns the shortest decimal that Parse reads as x, for instance
// -1.234e+5678. It returns exp(log) as Float64 does.
func (x Signed) String() string { s := x.spell(); return s.string() }

// Format implements fmt.Formatter for the verbs of float64, %v %s %g %e %f, with
// width, precision and the flags + - space 0. A given precision rounds e^Log itself;
// digits past the 1000th are 0. %f writes what %e writes above 10^1000 and below
// 10^-1000. All verbs write exp(log) if |log| >= 2^53 (2^24 for a Float32).
func (x Float[L]) Format(f fmt.State, verb rune) { s := x.spell(); s.format(f, verb, typeName(x)) }

// Format implements fmt.Formatter as Float64 does.
func (x Fixed) Format(f fmt.State, verb rune) { s := x.spell(); s.format(f, verb, typeName(x)) }

// Format implements fmt.Formatter as Float64 does.
func (x Signed) Format(f fmt.State, verb rune) { s := x.spell(); s.format(f, verb, typeName(x)) }

// MarshalText implements encoding.TextMarshaler. The text is that of String.
func (x Float[L]) MarshalText() ([]byte, error) { return []byte(x.String()), nil }

// MarshalText implements encoding.TextMarshaler. The text is that of String.
func (x Fixed) MarshalText() ([]byte, error) { return []byte(x.String()), nil }

// MarshalText implements encoding.TextMarshaler. The text is that of String.
func (x Signed) MarshalText() ([]byte, error) { return []byte(x.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It reads what Parse reads.
// On an error it leaves x as it was.
func (x *Float[L]) UnmarshalText(text []byte) error { return unmarshalText(x, text) }

// UnmarshalText implements encoding.TextUnmarshaler. It reads what Parse reads.
// On an error it leaves x as it was.
func (x *Fixed) UnmarshalText(text []byte) error { return unmarshalText(x, text) }

// UnmarshalText implements encoding.TextUnmarshaler. It reads what Parse reads.
// On an error it leaves x as it was.
func (x *Signed) UnmarshalText(text []byte) error { return unmarshalText(x, text) }

// destination is a pointer to a number that text is read into.
type destination[T any] interface {
	*T
	number
}

func unmarshalText[T any, P destination[T]](x P, text []byte) error {
	var v T
	err := parse(P(&v), string(text))
	if err == nil {
		*x = v
	}
	return err
}

// Scan implements fmt.Scanner. It reads what Parse reads, for the verbs %v, %s,
// %e, %f and %g. On an error it leaves x as it was.
func (x *Float[L]) Scan(state fmt.ScanState, verb rune) error { return scanText(x, state, verb) }

// Scan implements fmt.Scanner. It reads what Parse reads, for the verbs %v, %s,
// %e, %f and %g. On an error it leaves x as it was.
func (x *Fixed) Scan(state fmt.ScanState, verb rune) error { return scanText(x, state, verb) }

// Scan implements fmt.Scanner. It reads what Parse reads, for the verbs %v, %s,
// %e, %f and %g. On an error it leaves x as it was.
func (x *Signed) Scan(state fmt.ScanState, verb rune) error { return scanText(x, state, verb) }

func scanText[T any, P destination[T]](x P, state fmt.ScanState, verb rune) error {
	if !strings.ContainsRune("vseEfFgG", verb) {
		return fmt.Errorf("ulog: bad verb %%%c to scan a number", verb)
	}
	const decimal = "+-.0123456789eE"
	taken, begun := decimal+"iInN", false
	text, err := state.Token(true, func(r rune) bool {
		if !strings.ContainsRune(taken, r) {
			return false
		}
		// The first letter or digit determines what the others may be.
		switch {
		case r == ')':
			taken = ""
		case begun || r == '+' || r == '-':
		case r == 'e' || r == 'E':
			taken, begun = decimal+"xXpP()", true
		case r == 'i' || r == 'I':
			taken, begun = "iInNfFtTyY", true
		case r == 'n' || r == 'N':
			taken, begun = "nNaA", true
		default:
			taken, begun = decimal, true
		}
		return true
	})
	if err != nil {
		return err
	}
	return unmarshalText(x, text)
}

// MarshalJSON implements json.Marshaler. It writes a number if String is decimal,
// and a string otherwise.
func (x Float[L]) MarshalJSON() ([]byte, error) { return marshalJSON(x.String()), nil }

// MarshalJSON implements json.Marshaler. It writes a number.
func (x Fixed) MarshalJSON() ([]byte, error) { return marshalJSON(x.String()), nil }

// MarshalJSON implements json.Marshaler. It writes a number if String is decimal,
// and a string otherwise.
func (x Signed) MarshalJSON() ([]byte, error) { return marshalJSON(x.String()), nil }

func marshalJSON(s string) []byte {
	// Text that is not decimal has a letter other than the e of an exponent.
	if bytes.ContainsAny([]byte(s), "xIN") {
		return []byte(`"` + s + `"`)
	}
	return []byte(s)
}

// UnmarshalJSON implements json.Unmarshaler. It reads numbers and strings. On an
// error it leaves x as it was.
func (x *Float[L]) UnmarshalJSON(data []byte) error { return unmarshalJSON(x, data) }

// UnmarshalJSON implements json.Unmarshaler. It reads numbers and strings. On an
// error it leaves x as it was.
func (x *Fixed) UnmarshalJSON(data []byte) error { return unmarshalJSON(x, data) }

// UnmarshalJSON implements json.Unmarshaler. It reads numbers and strings. On an
// error it leaves x as it was.
func (x *Signed) UnmarshalJSON(data []byte) error { return unmarshalJSON(x, data) }

func unmarshalJSON[T any, P destination[T]](x P, data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if len(data) > 0 && data[0] == '"' {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		data = []byte(s)
	}
	return unmarshalText(x, data)
}
