package scan_test

import (
	"fmt"
	"strings"

	"revnum/internal/scan"
)

func Example() {
	s := scan.New(strings.NewReader("2\n0.5 half\n"), "numbers.txt")
	n, err := s.Int("how many numbers follow", 0, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range n {
		v, err := s.Float(func() string { return fmt.Sprintf("number %d of %d", i+1, n) })
		fmt.Println(v, err)
	}
	// Output:
	// 0.5 <nil>
	// 0 numbers.txt:2: expected number 2 of 2, found "half"
}
