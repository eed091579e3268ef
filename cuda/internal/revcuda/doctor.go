package revcuda

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"revnum/cuda/kernels"
)

// probe asks the driver for its version and its devices.
//
//go:embed probe/probe.c
var probe string

// toolkits are where CUDA toolkits usually are.
var toolkits = []string{"$CUDA_HOME", "$CUDA_PATH", "/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"}

func newDoctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Print what this machine has for a GPU, and what to type",
		Long: `doctor prints which C compiler, header of CUDA, driver and devices this machine has, and the
command that uses them. It does what a build with the tag cuda does, and needs no such build. It fails if
something is missing, and says what to do.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := examine()
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, l := range d.lines {
				fmt.Fprintf(w, "%s\t%s\n", l[0], l[1])
			}
			if len(d.missing) == 0 {
				for _, line := range append(d.exports, "go run -tags cuda ./cmd/revcuda bench") {
					fmt.Fprintf(w, "type\t%s\n", line)
				}
			}
			if err := w.Flush(); err != nil || len(d.missing) == 0 {
				return err
			}
			return fmt.Errorf("not ready for a GPU: %s", strings.Join(d.missing, "; "))
		},
	}
}

// A diagnosis is what was found.
type diagnosis struct {
	lines   [][2]string // what it is, and what was found
	exports []string    // what to type before the command
	missing []string    // what to do first
	tmp     string
	env     struct{ CC, CGO_ENABLED, CGO_CFLAGS, CGO_LDFLAGS string }
}

func (d *diagnosis) found(what, how string) { d.lines = append(d.lines, [2]string{what, how}) }

func (d *diagnosis) lacks(what, why, do string) {
	d.found(what, "none: "+why)
	d.missing = append(d.missing, do)
}

// examine looks for all that a build needs, in its order.
func examine() (d *diagnosis, err error) {
	d = &diagnosis{}
	if d.tmp, err = os.MkdirTemp("", "doctor"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(d.tmp)) }()
	// The go command knows settings that are not in the environment.
	if out, err := exec.Command("go", "env", "-json", "CC", "CGO_ENABLED", "CGO_CFLAGS", "CGO_LDFLAGS").Output(); err != nil {
		d.env.CC, d.env.CGO_CFLAGS, d.env.CGO_LDFLAGS = cmp.Or(os.Getenv("CC"), "gcc"), os.Getenv("CGO_CFLAGS"), os.Getenv("CGO_LDFLAGS")
	} else if err := json.Unmarshal(out, &d.env); err != nil {
		return nil, err
	}
	if d.compiler() {
		d.header()
		d.library()
		d.driver()
	}
	return d, nil
}

// compile runs the C compiler on a source, with arguments of the shell, and returns what it prints.
func (d *diagnosis) compile(source, args string) (string, error) {
	cmd := exec.Command("sh", "-c", strings.Join([]string{d.env.CC, d.env.CGO_CFLAGS, "-xc -", args}, " "))
	cmd.Dir, cmd.Stdin = d.tmp, strings.NewReader(source)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (d *diagnosis) compiler() bool {
	out, err := exec.Command("sh", "-c", d.env.CC+" --version").CombinedOutput()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	switch {
	case err != nil:
		d.lacks("compiler", cmp.Or(line, err.Error()), "install gcc, or set CC to a C compiler")
	case d.env.CGO_ENABLED == "0":
		d.lacks("compiler", "CGO_ENABLED is 0", "export CGO_ENABLED=1")
	default:
		d.found("compiler", line)
		return true
	}
	return false
}

// candidates returns the folders of that name which toolkits have.
func candidates(name string) (dirs []string) {
	for _, t := range toolkits {
		if t = os.ExpandEnv(t); t == "" {
			continue
		}
		if s, err := os.Stat(filepath.Join(t, name)); err == nil && s.IsDir() {
			dirs = append(dirs, filepath.Join(t, name))
		}
	}
	return dirs
}

// at returns flag and a folder, quoted for the shell and the go command, or "" without a folder.
func at(flag, dir string) string {
	if dir == "" {
		return ""
	}
	return "'" + flag + dir + "'"
}

var headerPath = regexp.MustCompile(`(?m)^# 1 "(.*/cuda\.h)"`)

func (d *diagnosis) header() {
	const source = "#include <cuda.h>\nCUDA_VERSION\n"
	for _, dir := range append([]string{""}, candidates("include")...) {
		out, err := d.compile(source, "-E "+at("-I", dir))
		if err != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		version, err := strconv.Atoi(lines[len(lines)-1])
		paths := headerPath.FindAllStringSubmatch(out, -1) // the toolkit's is the last
		if err != nil || paths == nil {
			continue
		}
		path := paths[len(paths)-1][1]
		if version < 11000 || version >= 14000 {
			d.lacks("header", fmt.Sprintf("%s is of CUDA %s", path, release(version)), "set CGO_CFLAGS to the folder of a cuda.h of CUDA 11 to 13")
			return
		}
		d.found("header", fmt.Sprintf("CUDA %s, %s", release(version), path))
		if version >= 13000 && len(paths) == 1 { // ours has to come before
			d.exports = append(d.exports, `export CGO_CFLAGS="'-I$PWD/include' $CGO_CFLAGS"`)
		}
		d.export("CGO_CFLAGS", "-I", dir)
		return
	}
	d.lacks("header", "cuda.h is not there", "install the CUDA toolkit 11, 12 or 13, or unpack cuda.h (pip download --no-deps nvidia-cuda-runtime-cu12), and set CGO_CFLAGS=-I and its folder")
}

// export adds a folder to a variable of the go command.
func (d *diagnosis) export(variable, flag, dir string) {
	if dir != "" {
		d.exports = append(d.exports, fmt.Sprintf(`export %s="$%s %s"`, variable, variable, at(flag, dir)))
	}
}

func (d *diagnosis) library() {
	var first string
	for _, dir := range append(append([]string{""}, candidates("lib64/stubs")...), candidates("lib/stubs")...) {
		out, err := d.compile("int main(void) { return 0; }", "-o linked "+d.env.CGO_LDFLAGS+" "+at("-L", dir)+" -lcuda")
		if err == nil {
			d.found("library", "the linker finds -lcuda"+strings.TrimRight(" in "+dir, " in"))
			d.export("CGO_LDFLAGS", "-L", dir)
			return
		}
		if first == "" {
			first, _, _ = strings.Cut(out, "\n")
		}
	}
	d.lacks("library", first, "install a CUDA driver, or the stubs of the CUDA toolkit to build without one, and set CGO_LDFLAGS=-L and their folder")
}

func (d *diagnosis) driver() {
	out, err := d.compile(probe, "-o probe -ldl")
	if err == nil {
		var b []byte
		b, err = exec.Command(filepath.Join(d.tmp, "probe")).CombinedOutput()
		out = string(b)
	}
	if err != nil {
		d.lacks("driver", strings.TrimSpace(out), "repair the C compiler")
		return
	}
	usable, devices := 0, 0
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		switch number, _ := strconv.Atoi(f[1]); f[0] {
		case "none":
			d.lacks("driver", f[1], "install NVIDIA's driver")
			return
		case "driver":
			d.found("driver", "for CUDA "+release(number)+" and before")
		case "error":
			d.lacks("device", fmt.Sprintf("error %d of CUDA", number), "give this machine an NVIDIA GPU that its driver knows")
			return
		case "device":
			note := ""
			if number < kernels.Capability {
				note = ", too old"
			} else {
				usable++
			}
			d.found(fmt.Sprint("device ", devices), fmt.Sprintf("%s, compute capability %d.%d%s", f[2], number/10, number%10, note))
			devices++
		}
	}
	if usable == 0 {
		why := "all are too old"
		if devices == 0 {
			why = "the driver has none"
		}
		d.lacks("device", why, fmt.Sprintf("use a GPU of compute capability %d.%d or later", kernels.Capability/10, kernels.Capability%10))
	}
}

// release returns the name of a version of CUDA.
func release(version int) string { return fmt.Sprintf("%d.%d", version/1000, version%1000/10) }
