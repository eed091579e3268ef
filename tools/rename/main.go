// Command rename gives the module another path, everywhere:
//
//	go run ./tools/rename example.org/you/revnum
//
// It changes go.mod and the go.mod files of the modules inside, the imports and
// other strings of Go files, the linter's settings and the documentation. It
// prints the files that it changed.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"revnum/internal/outfile"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./tools/rename PATH")
		os.Exit(2)
	}
	changed, err := rename(".", os.Args[1])
	for _, name := range changed {
		fmt.Println(name)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
}

var (
	modulePath = regexp.MustCompile(`^[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*$`)
	moduleLine = regexp.MustCompile(`(?m)^module\s+(\S+)`)
)

// rename renames the module in dir, and returns the files that it changed.
func rename(dir, to string) ([]string, error) {
	if !modulePath.MatchString(to) {
		return nil, fmt.Errorf("%q is no module path, want one such as example.org/you/revnum", to)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	line := moduleLine.FindSubmatch(mod)
	if line == nil {
		return nil, errors.New("go.mod: no line with the module's path")
	}
	var changed []string
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		mention := mentions(name, string(line[1]))
		if mention == nil {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		renamed := mention.ReplaceAll(text, []byte("${1}"+to+"${2}"))
		if bytes.Equal(renamed, text) {
			return nil
		}
		changed = append(changed, name)
		return outfile.Write(name, func(w io.Writer) error {
			_, err := w.Write(renamed)
			return err
		})
	})
	return changed, err
}

// mentions returns what is a mention of the module in a file of that name, with
// what stands before and after it, or nil if such files have none.
func mentions(name, module string) *regexp.Regexp {
	module = regexp.QuoteMeta(module)
	switch base := filepath.Base(name); {
	case filepath.Ext(name) == ".go":
		return regexp.MustCompile("([\"`])" + module + "([\"`/])")
	case base == "go.mod":
		return regexp.MustCompile(`(?m)^((?:module|require|replace) |\t)` + module + `([/\s])`)
	case base == ".golangci.yml":
		return regexp.MustCompile(`(local-prefixes: \[)` + module + `(\])`)
	case filepath.Ext(name) == ".md":
		return regexp.MustCompile(`(?m)(-require=|-replace=|go run |^\t"|^import ")` + module + `([/@="])`)
	}
	return nil
}
