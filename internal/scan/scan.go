package scan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// maxToken is the length of the longest number that a Scanner reads. The longest
// decimal expansion of a float64 that makes sense has some 770 digits.
const maxToken = 4096

// Mark is the byte-order mark that some editors write in front of a text in UTF-8. A
// Scanner and other readers skip it.
var Mark = []byte("\xef\xbb\xbf")

// A Scanner reads numbers and words separated by white space. It knows the current
// line. Its errors name the file and the line.
type Scanner struct {
	r        io.Reader
	name     string
	buf      []byte
	pos, end int
	line     int // of the next byte
	begun    bool
	readErr  error
}

// New returns a scanner of r. name stands for r in errors.
func New(r io.Reader, name string) *Scanner {
	return &Scanner{r: r, name: name, buf: make([]byte, 1<<18), line: 1}
}

// Name returns the name that was passed to New.
func (s *Scanner) Name() string { return s.name }

// Line returns the number of the line that the last word was on, from 1.
func (s *Scanner) Line() int { return s.line }

// Errorf returns an error that names the file and the line.
func (s *Scanner) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", s.name, s.line, fmt.Errorf(format, args...))
}

// fill moves the rest of the buffer to its front and reads more after it. It
// reports whether there is more.
func (s *Scanner) fill() bool {
	if s.readErr != nil {
		return false
	}
	copy(s.buf, s.buf[s.pos:s.end])
	s.end -= s.pos
	s.pos = 0
	for range 100 {
		var n int
		n, s.readErr = s.r.Read(s.buf[s.end:])
		s.end += n
		if n > 0 {
			return true
		}
		if s.readErr != nil {
			return false
		}
	}
	s.readErr = io.ErrNoProgress
	return false
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\v' || c == '\f'
}

// token returns the next word, or io.EOF at the end of the file. The word is valid
// until the next call.
func (s *Scanner) token() ([]byte, error) {
	if !s.begun {
		s.begun = true
		for s.end < len(Mark) && s.fill() {
		}
		if bytes.HasPrefix(s.buf[:s.end], Mark) {
			s.pos = len(Mark)
		}
	}
	for {
		for s.pos < s.end && isSpace(s.buf[s.pos]) {
			if s.buf[s.pos] == '\n' {
				s.line++
			}
			s.pos++
		}
		if s.pos < s.end {
			break
		}
		if !s.fill() {
			return nil, s.readErr
		}
	}
	n := 0
	for {
		for s.pos+n < s.end && !isSpace(s.buf[s.pos+n]) {
			n++
		}
		if n > maxToken {
			return nil, errors.New("a word of more than 4096 characters")
		}
		if s.pos+n < s.end || !s.fill() {
			break
		}
	}
	if s.readErr != nil && !errors.Is(s.readErr, io.EOF) {
		return nil, s.readErr
	}
	t := s.buf[s.pos : s.pos+n]
	s.pos += n
	return t, nil
}

// Expected returns the error for a token that is not what was expected. If err is
// not nil, there was no token, and err is the reason.
func (s *Scanner) Expected(what string, token []byte, err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return s.Errorf("expected %s, found the end of the file", what)
	case err != nil:
		return s.Errorf("expected %s: %w", what, err)
	}
	if len(token) > 40 {
		token = append(token[:40:40], "..."...)
	}
	return s.Errorf("expected %s, found %q", what, token)
}

// Word reads a word, which is valid until the next call.
func (s *Scanner) Word(what string) ([]byte, error) {
	t, err := s.token()
	if err != nil {
		return nil, s.Expected(what, nil, err)
	}
	return t, nil
}

// Int reads an integer in the range from low to high.
func (s *Scanner) Int(what string, low, high int) (int, error) {
	t, err := s.token()
	if err != nil {
		return 0, s.Expected(what, nil, err)
	}
	v, err := strconv.Atoi(string(t))
	if err != nil || v < low || v > high {
		return 0, s.Expected(what, t, nil)
	}
	return v, nil
}

// Float reads a finite number.
func (s *Scanner) Float(what func() string) (float64, error) {
	t, err := s.token()
	if err != nil {
		return 0, s.Expected(what(), nil, err)
	}
	v, err := strconv.ParseFloat(string(t), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, s.Expected(what(), t, nil)
	}
	return v, nil
}

// End returns an error if the file goes on.
func (s *Scanner) End() error {
	t, err := s.token()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return s.Expected("the end of the file", t, err)
}
