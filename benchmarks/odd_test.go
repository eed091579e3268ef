package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"revnum/internal/long"
)

// oddLines returns the lines of a list in testdata/odd, without comments.
func oddLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "odd", name))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.SplitSeq(string(text), "\n") {
		if line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// An oddFile makes a file of files.txt at path. Content is what it holds, nil unless it is a
// regular file.
type oddFile struct {
	content []byte
	make    func(path string) error
}

// parseOddFile reads what follows a name in files.txt.
func parseOddFile(rest string) (oddFile, error) {
	if target, ok := strings.CutPrefix(rest, "-> "); ok {
		return oddFile{make: func(path string) error { return os.Symlink(target, path) }}, nil
	}
	if rest == "!" {
		return oddFile{make: func(path string) error { return os.WriteFile(path, nil, 0) }}, nil
	}
	rest, zipped := strings.CutPrefix(rest, "gz ")
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return oddFile{}, err
	}
	text, err := strconv.Unquote(quoted)
	if err != nil {
		return oddFile{}, err
	}
	times := 1
	if n, ok := strings.CutPrefix(strings.TrimSpace(rest[len(quoted):]), "*"); ok {
		if times, err = strconv.Atoi(n); err != nil {
			return oddFile{}, err
		}
	}
	var b bytes.Buffer
	if zipped {
		const chunk = 1000
		chunked := strings.Repeat(text, chunk)
		z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed) // they are large
		if err != nil {
			return oddFile{}, err
		}
		for ; times >= chunk; times -= chunk {
			if _, err := z.Write([]byte(chunked)); err != nil {
				return oddFile{}, err
			}
		}
		if _, err := z.Write([]byte(strings.Repeat(text, times))); err != nil {
			return oddFile{}, err
		}
		if err := z.Close(); err != nil {
			return oddFile{}, err
		}
	} else {
		b.WriteString(strings.Repeat(text, times))
	}
	content := append([]byte{}, b.Bytes()...)
	return oddFile{content, func(path string) error { return os.WriteFile(path, content, 0o666) }}, nil
}

// oddFiles returns the files of files.txt by name.
func oddFiles(t *testing.T) map[string]oddFile {
	t.Helper()
	files := make(map[string]oddFile)
	for _, line := range oddLines(t, "files.txt") {
		if dir, ok := strings.CutSuffix(line, "/"); ok {
			files[dir] = oddFile{make: func(path string) error { return os.Mkdir(path, 0o777) }}
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		f, err := parseOddFile(rest)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		files[name] = f
	}
	return files
}

// needs returns the names of the files that the arguments mention: alone, after = and before a
// slash.
func needs(files map[string]oddFile, args []string) (names []string) {
	add := func(name string) {
		if _, ok := files[name]; ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, a := range args {
		if _, value, ok := strings.Cut(a, "="); ok {
			a = value
		}
		a = strings.TrimPrefix(a, "./")
		first, _, _ := strings.Cut(a, "/")
		add(first)
		if add(a); a == "link.csv" {
			add("x.csv")
		}
	}
	return names
}

// arguments splits a command at spaces; what is quoted stays together.
func arguments(command string) (args []string) {
	for command = strings.TrimSpace(command); command != ""; command = strings.TrimSpace(command) {
		word, err := strconv.QuotedPrefix(command)
		if err != nil {
			word, _, _ = strings.Cut(command, " ")
			args = append(args, word)
		} else {
			text, _ := strconv.Unquote(word)
			args = append(args, text)
		}
		command = command[len(word):]
	}
	return args
}

// oddTime is when a command counts as one that does not end.
const oddTime = 2 * time.Minute

// startOdd returns the command, with limits on its memory and time.
func startOdd(t *testing.T, dir, program string, args ...string) (cmd *exec.Cmd, stop func()) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), oddTime)
	cmd = exec.CommandContext(ctx, "sh", append([]string{"-c", `ulimit -v 16777216; exec "$0" "$@"`, program}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "BENCHMARKS_RUN_MAIN=1", "GOMEMLIMIT=256MiB")
	return cmd, stop
}

// TestOdd runs the commands of testdata/odd/commands.txt, each in a folder of its own with the
// files that it mentions. A command that is refused prints one line, which names a file or a flag
// and has the text after =>. It leaves all files as they were, and makes none. Without REVNUM_LONG
// it runs every twenty-fourth, and none of revcluster, which is then not built.
func TestOdd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("limits by ulimit, and files in /dev")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{"benchmarks": exe, "revcluster": filepath.Join(t.TempDir(), "revcluster")}
	if long.Tests() {
		if out, err := exec.Command("go", "build", "-o", programs["revcluster"], "revnum/cluster/cmd/revcluster").CombinedOutput(); err != nil {
			t.Fatalf("%v, %s", err, out)
		}
	}
	files := oddFiles(t)
	for i, line := range oddLines(t, "commands.txt") {
		if !long.Tests() && (i%24 != 0 || !strings.HasPrefix(line, "benchmarks ")) {
			continue
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			command, want, ok := strings.Cut(line, " => ")
			args := arguments(command)
			if !ok || programs[args[0]] == "" {
				t.Fatal("expected a program, arguments, => and a text")
			}
			dir := t.TempDir()
			names := needs(files, args)
			for _, name := range names {
				if strings.HasPrefix(name, "secret") && os.Getuid() == 0 {
					t.Skip("root reads all files")
				}
				if err := files[name].make(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			cmd, stop := startOdd(t, dir, programs[args[0]], args[1:]...)
			defer stop()
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			checkOdd(t, args, want, cmd, err, stderr.String())
			checkUnchanged(t, dir, files, names, want == "ok")
		})
	}
}

// checkOdd checks how a command ended, and what it printed to standard error.
func checkOdd(t *testing.T, args []string, want string, cmd *exec.Cmd, err error, stderr string) {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if status := cmd.ProcessState.ExitCode(); want == "ok" {
		if status != 0 || stderr != "" {
			t.Errorf("exit status %d, %s", status, stderr)
		}
		return
	} else if status != 1 {
		t.Errorf("exit status %d (%v), %.2000s", status, cmd.ProcessState, stderr)
		return
	}
	named := strings.Contains(stderr, "--") || strings.Contains(stderr, " arg") || strings.Contains(stderr, "flag") || slices.ContainsFunc(args[1:], func(a string) bool { return a != "" && strings.Contains(stderr, strings.TrimSuffix(a, "/")) })
	switch {
	case strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") || len(stderr) > 1000 || !strings.HasPrefix(stderr, args[0]+": "):
		t.Errorf("expected one line, found %.2000s", stderr)
	case strings.Contains(stderr, "bug in revnum") || strings.Contains(stderr, "goroutine"):
		t.Errorf("a bug: %s", stderr)
	case !named || !strings.Contains(stderr, want):
		t.Errorf("expected %q, found %s", want, stderr)
	}
}

// checkUnchanged checks that the files hold what they held, and that nothing else is in dir,
// unless the command may write.
func checkUnchanged(t *testing.T, dir string, files map[string]oddFile, names []string, writes bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if !slices.Contains(names, name) {
			if !writes {
				return fmt.Errorf("%s was made", name)
			}
			return nil
		}
		if content := files[name].content; content != nil {
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, content) || !e.Type().IsRegular() {
				return fmt.Errorf("%s is changed: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestOddMessages sends the messages of testdata/odd/messages.txt to both tools of GradBench.
// Each is answered, with an error that has the text after =>.
func TestOddMessages(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("limits by ulimit")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	lines := oddLines(t, "messages.txt")
	for _, args := range [][]string{{"gradbench"}, {"gradbench", "--generated"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			var in, stdout, stderr bytes.Buffer
			for _, line := range lines {
				message, _, _ := strings.Cut(line, " =>")
				in.WriteString(message + "\n")
			}
			cmd, stop := startOdd(t, t.TempDir(), exe, args...)
			defer stop()
			cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &stdout, &stderr
			if err := cmd.Run(); err != nil || stderr.Len() > 0 {
				t.Errorf("%v, %.2000s", err, stderr.String())
			}
			answers := strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
			if len(answers) != len(lines) {
				t.Fatalf("%d answers to %d messages", len(answers), len(lines))
			}
			for i, line := range lines {
				message, want, _ := strings.Cut(line, " =>")
				var a struct {
					Success bool
					Error   string
				}
				err := json.Unmarshal([]byte(answers[i]), &a)
				if unknown := len(args) == 2 && strings.Contains(a.Error, "unknown"); err != nil || a.Success || a.Error == "" || !strings.Contains(a.Error, strings.TrimSpace(want)) && !unknown {
					t.Errorf("%s: %.500s, want an error with %q", message, answers[i], want)
				}
			}
		})
	}
}
