// Command rename gives the module another path, everywhere:
//
//	go run ./tools/rename example.org/you/revnum
//
// It changes go.mod and the go.mod files of the modules inside, the imports and
// other strings of Go files, the linter's settings and the documentation. It
// prints the files that it changed. The checkout must have no changes that git does
// not have, so that you can go back, unless you say -force.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"revnum/internal/outfile"
)

func main() { os.Exit(run(".", os.Args[1:], os.Stdout, os.Stderr)) }

// run is the command in the folder dir. It returns the exit status.
func run(dir string, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("rename", flag.ContinueOnError)
	flags.SetOutput(stderr)
	force := flags.Bool("force", false, "rename also where git has changes to commit, or does not know the folder")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: go run ./tools/rename [-force] PATH\nPATH is a module path such as example.org/you/revnum.")
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 1
	case flags.NArg() != 1:
		flags.Usage()
		return 1
	}
	changed, err := rename(dir, flags.Arg(0), *force)
	for _, name := range changed {
		fmt.Fprintln(stdout, name)
	}
	if err != nil {
		fmt.Fprintln(stderr, "rename:", err)
		return 1
	}
	return 0
}

var (
	host       = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`)
	element    = regexp.MustCompile(`^[A-Za-z0-9_~-]([A-Za-z0-9._~-]*[A-Za-z0-9_-])?$`)
	reserved   = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)|~[0-9]+(\.|$)`) // names of files in Windows
	version    = regexp.MustCompile(`^v[0-9.]+$`)
	moduleLine = regexp.MustCompile(`(?m)^module\s+(\S+)`)
)

// checkPath returns an error unless path is the path of a module that the go command can
// download. It allows less than CheckPath of golang.org/x/mod/module, of which the library would
// otherwise depend: no version at the end, and only hosts that exist.
func checkPath(path string) error {
	first, rest, _ := strings.Cut(path, "/")
	ok := host.MatchString(first)
	if rest != "" || strings.HasSuffix(path, "/") {
		for e := range strings.SplitSeq(rest, "/") {
			ok = ok && element.MatchString(e) && !reserved.MatchString(e) && !version.MatchString(e) && e != "internal" && e != "vendor"
		}
	}
	if !ok || reserved.MatchString(first) {
		return fmt.Errorf("%q is no module path, want one such as example.org/you/revnum", path)
	}
	return nil
}

// checkClean returns an error unless git has all that is in the folder dir.
func checkClean(dir string) error {
	var stderr bytes.Buffer
	git := exec.Command("git", "-C", dir, "status", "--porcelain")
	git.Stderr = &stderr
	changes, err := git.Output()
	switch {
	case err != nil:
		text, _, _ := strings.Cut(stderr.String(), "\n")
		return fmt.Errorf("git status: %w: %s; -force renames without git", err, text)
	case len(changes) > 0:
		line, _, _ := strings.Cut(string(changes), "\n")
		return fmt.Errorf("git has changes to commit, such as %q; commit them, or say -force", line)
	}
	return nil
}

// rename renames the module in dir, and returns the files that it changed.
func rename(dir, to string, force bool) ([]string, error) {
	if err := checkPath(to); err != nil {
		return nil, err
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	line := moduleLine.FindSubmatch(mod)
	if line == nil {
		return nil, errors.New("go.mod: no line with the module's path")
	}
	if !force {
		if err := checkClean(dir); err != nil {
			return nil, err
		}
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
		return regexp.MustCompile("(?m)([\"`]|^//go:linkname [^ ]+ )" + module + "([\"`/])")
	case base == "go.mod":
		return regexp.MustCompile(`(?m)^((?:module|require|replace) |\t)` + module + `([/\s])`)
	case base == ".golangci.yml":
		return regexp.MustCompile(`(local-prefixes: \[)` + module + `(\])`)
	case filepath.Ext(name) == ".md":
		return regexp.MustCompile(`(?m)(-require=|-replace=|go run |^\t"|^import ")` + module + `([/@="])`)
	}
	return nil
}
