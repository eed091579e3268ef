package scan_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"revnum/internal/scan"
)

func TestScanner(t *testing.T) {
	const text = "# v0.3\r\n\n12 -3.5e2\tx\v1e999 0"
	number := func() string { return "a finite number" }
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text))} {
		s := scan.New(r, "a.txt")
		for _, want := range []string{"#", "v0.3"} {
			if w, err := s.Word("a word"); string(w) != want || err != nil {
				t.Errorf("%s: %q, %v, want %q", name, w, err, want)
			}
		}
		if v, err := s.Int("a count", 0, 12); v != 12 || err != nil {
			t.Errorf("%s: %v, %v, want 12", name, v, err)
		}
		if v, err := s.Float(number); v != -350 || err != nil {
			t.Errorf("%s: %v, %v, want -350", name, v, err)
		}
		_, err := s.Int("a count", 0, 12)
		wantError(t, err, `a.txt:3: expected a count, found "x"`)
		_, err = s.Float(number)
		wantError(t, err, `a.txt:3: expected a finite number, found "1e999"`)
		wantError(t, s.End(), `a.txt:3: expected the end of the file, found "0"`)
		if err := s.End(); err != nil {
			t.Errorf("%s: at the end: %v", name, err)
		}
		_, err = s.Word("a word")
		wantError(t, err, "a.txt:3: expected a word, found the end of the file")
	}
}

// TestMark checks that a byte-order mark is passed over, at the beginning alone.
func TestMark(t *testing.T) {
	for text, want := range map[string]string{
		"\ufeff12": "", "\ufeff 12\n": "", "\ufeff": "a:1: expected 12, found the end of the file",
		"\xef\xbb": "a:1: expected 12, found \"\\xef\\xbb\"", "\n\ufeff12": "a:2: expected 12, found \"\\ufeff12\"",
	} {
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			_, err := scan.New(r, "a").Int("12", 12, 12)
			if want != "" {
				wantError(t, err, want)
			} else if err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}

func TestIntRange(t *testing.T) {
	for _, text := range []string{"2", "-1", "1.5", "99999999999999999999", "1_0", ""} {
		_, err := scan.New(strings.NewReader(text), "a").Int("0 or 1", 0, 1)
		if err == nil || !strings.HasPrefix(err.Error(), "a:1: expected 0 or 1, found ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestLongWord(t *testing.T) {
	long := strings.Repeat("7", 1<<20)
	_, err := scan.New(strings.NewReader(long), "a").Word("a word")
	wantError(t, err, "a:1: expected a word: a word of more than 4096 characters")
	_, err = scan.New(strings.NewReader(long[:4096]), "a").Int("a count", 0, 9)
	wantError(t, err, `a:1: expected a count, found "`+long[:40]+`..."`)
}

// TestReadError checks that what the reader says comes through, and that a
// reader that gives nothing is not asked forever.
func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	_, err := scan.New(io.MultiReader(strings.NewReader("1\n2"), iotest.ErrReader(broken)), "a").Word("a word")
	if err != nil {
		t.Errorf("the word before the trouble: %v", err)
	}
	s := scan.New(io.MultiReader(strings.NewReader("1\n2"), iotest.ErrReader(broken)), "a")
	_, _ = s.Word("a word")
	if _, err = s.Word("a word"); !errors.Is(err, broken) {
		t.Errorf("error %v, want one that wraps %v", err, broken)
	}
	if _, err = scan.New(idle{}, "a").Word("a word"); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error %v, want one that wraps %v", err, io.ErrNoProgress)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}
