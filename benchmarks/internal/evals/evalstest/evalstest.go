// Package evalstest makes a folder that stands for a clone of GradBench's repository.
package evalstest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// gradbench stands for GradBench's command. It runs the eval as that does, but does not connect it
// with the tool: it has a log and an exit status for each tool.
const gradbench = `#!/bin/sh
# $3 is the eval, $5 the tool, $7 the log
echo "$@" >>calls
case $5 in
*"'hang'"*) exec sleep 60 ;;
*"'gradbench'"*) tool=ours ;;
*) tool=$(eval "set -- $5" && eval "printf %s \${$#}"); tool=${tool##*/} ;;
esac
cp "logs/$tool" "$7"
eval "$3"
case $tool in
dying) echo "MemoryError: out of memory" >&2; exit 1 ;;
broken) exit 2 ;;
failing) exit 3 ;;
wrong) exit 4 ;;
late) exit 5 ;;
esac
`

// python stands for Python. The eval "crash" ends with an error.
const python = `#!/bin/sh
case $1 in
*evals/crash/run.py) printf 'Traceback:\nAttributeError: no file\n' >&2; exit 3 ;;
esac
`

const (
	start    = `{ "elapsed": { "nanoseconds": 1 }, "message": {"id": 0, "kind": "start", "eval": "det"} }` + "\n" + `{ "elapsed": { "nanoseconds": 2 }, "response": {"id": 0, "tool": "t"} }` + "\n"
	define   = `{ "elapsed": { "nanoseconds": 3 }, "message": {"id": 1, "kind": "define", "module": "det"} }` + "\n" + `{ "elapsed": { "nanoseconds": 4 }, "response": {"id": 1, "success": true} }` + "\n"
	evaluate = `{ "elapsed": { "nanoseconds": 5 }, "message": {"id": 2, "kind": "evaluate", "module": "det", "function": "f", "input": {"n": [1, 2]}, "description": "n=2"} }` + "\n"
	another  = `{ "elapsed": { "nanoseconds": 9 }, "message": {"id": 4, "kind": "evaluate", "module": "det", "function": "g", "input": 1.5} }` + "\n"
	right    = `{ "elapsed": { "nanoseconds": 7 }, "message": {"id": 3, "kind": "analysis", "of": 2, "valid": true} }` + "\n" + `{ "elapsed": { "nanoseconds": 8 }, "response": {"id": 3} }` + "\n"
)

// answer returns an answer with a time of another step, and times of runs.
func answer(id, times string) string {
	return `{ "elapsed": { "nanoseconds": 6 }, "response": {"id": ` + id + `, "success": true, "output": [1], "timings": [{"name": "prepare", "nanoseconds": 1000}, {"name": "evaluate", "nanoseconds": ` +
		strings.ReplaceAll(times, " ", `}, {"name": "evaluate", "nanoseconds": `) + `}]} }` + "\n"
}

var logs = map[string]string{
	"good":    start + define + evaluate + answer("2", "30 10 20") + right + another + answer("4", "50") + `{ "elapsed": { "nanoseconds": 9 }, "message": {"id": 5, "kind": "analysis", "of": 4, "valid": true} }` + "\n" + `{ "elapsed": { "nanoseconds": 9 }, "response": {"id": 5} }` + "\n",
	"ours":    start + define + evaluate + answer("2", "20 5 5") + right,
	"own.py":  start + define + evaluate + answer("2", "7") + right,
	"wrong":   start + define + evaluate + answer("2", "1") + `{ "elapsed": { "nanoseconds": 9 }, "message": {"id": 3, "kind": "analysis", "of": 2, "valid": false, "error": "Found 1 mismatches, showing 1:\n[0]: 1 is not 2"} }` + "\n" + `{ "elapsed": { "nanoseconds": 9 }, "response": {"id": 3} }` + "\n",
	"broken":  start + `{ "elapsed": { "nanoseconds": 3 }, "message": {"id": 1, "kind": "define", "module": "det"} }` + "\n" + `{ "elapsed": { "nanoseconds": 4 }, "response": {"id": 1, "success": false, "error": "Command 'make' terminated with return code 2 and stderr:\ndet.cpp:1:10: fatal error: codi.hpp: No such file or directory\ncompilation terminated.\n"} }` + "\n",
	"failing": start + define + evaluate + `{ "elapsed": { "nanoseconds": 6 }, "response": {"id": 2, "success": false, "error": "terminated with return code -9 and stderr:\n"} }` + "\n",
	"dying":   start + define + evaluate + answer("2", "3") + right + another,
	"slow":    start + define + evaluate + answer("2", "300 100") + right,
	"late":    start + define + evaluate + `{ "elapsed": { "nanose`,
}

// Checkout makes the folder, and returns it with the program that stands for Python. Its tools are
// named after what they do. It puts programs before others in PATH that stand for cargo and make.
func Checkout(t *testing.T) (dir, py string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "it's a clone")
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // programs
			t.Fatal(err)
		}
	}
	for _, eval := range []string{"crash", "det"} {
		write("evals/"+eval+"/README.md", "")
		write("python/gradbench/gradbench/evals/"+eval+"/run.py", `add_argument("--min-seconds")`)
	}
	for _, tool := range []string{"manual", "good", "wrong", "broken", "failing", "dying", "late", "hang"} {
		write("tools/"+tool+"/Makefile", "")
		write("tools/"+tool+"/evals.txt", "crash\ndet\n")
	}
	write("tools/slow/Makefile", "")
	write("tools/slow/evals.txt", "crash\ndet timeout\n")
	write("tools/image/evals.txt", "det\n")
	write("tools/script/evals.txt", "det\n")
	write("python/gradbench/gradbench/tools/script/run.py", "")
	for name, text := range logs {
		write("logs/"+name, text)
	}
	write("gradbench.sh", gradbench)
	write("bin/cargo", "#!/bin/sh\nset -e\nmkdir -p target/release-with-debug\ncp gradbench.sh target/release-with-debug/gradbench\n")
	write("bin/make", "#!/bin/sh\n")
	write("bin/python", python)
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	return dir, filepath.Join(dir, "bin", "python")
}
