// Occupancy assembles the kernels with ptxas, NVIDIA's assembler, and compares what they need with
// the table occupancy.csv:
//
//	cd cuda/kernels
//	go run ./occupancy -ptxas PATH [-write] [FILE.ptx ...]
//
// It fails if ptxas has an error or a warning, if it would fuse a product and a sum that the source
// does not fuse, if the table is not up to date, and if an entry has a stack frame, spills
// registers or leaves much of a multiprocessor idle for no reason that exceptions.go states. With
// -write it writes the table. Without files it does all.
//
// The table has a line for each entry and architecture: the threads of the largest block, the
// registers of a thread, the bytes of its stack frame and those that it spills, the bytes of shared
// memory of a block, the warps that are resident on a multiprocessor, and their percentage of the
// most that may be.
package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"revnum/cuda/kernels"
)

// A row is a line of the table.
type row struct {
	file, entry           string
	arch                  int // 75 is compute capability 7.5
	threads, registers    int
	stack, spills, shared int
	warps, percent        int
}

var header = []string{"file", "entry", "arch", "threads", "registers", "stack", "spills", "shared", "warps", "percent"}

func (r *row) numbers() []*int {
	return []*int{&r.arch, &r.threads, &r.registers, &r.stack, &r.spills, &r.shared, &r.warps, &r.percent}
}

// A multiprocessor is that of an architecture (CUDA C++ Programming Guide, Technical Specifications
// per Compute Capability). All have 65,536 registers.
type multiprocessor struct {
	arch          int
	warps, blocks int // that are resident at most
	shared        int // bytes of shared memory
	reserved      int // bytes of these that a block needs for the system
}

var multiprocessors = []multiprocessor{
	{75, 32, 16, 64 << 10, 0},
	{80, 64, 32, 164 << 10, 1 << 10},
	{90, 64, 32, 228 << 10, 1 << 10},
	{100, 64, 32, 228 << 10, 1 << 10},
	{120, 48, 24, 100 << 10, 1 << 10},
}

// occupy sets what blocks of the entry leave resident. Registers are in four parts. A warp takes them
// from one part, 256 at a time, and a block takes 128 bytes of shared memory at a time.
func (m multiprocessor) occupy(r *row) {
	const lanes, parts, registers = 32, 4, 65536 / 4
	up := func(n, unit int) int { return (n + unit - 1) / unit * unit }
	warps := up(r.threads, lanes) / lanes
	blocks := min(m.blocks, m.warps/warps, parts*(registers/up(r.registers*lanes, 256))/warps)
	if s := up(r.shared, 128) + m.reserved; s > 0 {
		blocks = min(blocks, m.shared/s)
	}
	r.warps = blocks * warps
	r.percent = 100 * r.warps / m.warps
}

var (
	anEntry = regexp.MustCompile(`Compiling entry function '(\w+)'`)
	aFrame  = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	itsUse  = regexp.MustCompile(`Used (\d+) registers`)
	itsRoom = regexp.MustCompile(`(\d+) bytes smem`)
)

// rowsOf returns the rows of a file on m, from what ptxas -v prints.
func rowsOf(file, printed string, m multiprocessor) (rows []row, err error) {
	number := func(s string) int {
		n, e := strconv.Atoi(s)
		err = errors.Join(err, e)
		return n
	}
	for line := range strings.Lines(printed) {
		if s := anEntry.FindStringSubmatch(line); s != nil {
			rows = append(rows, row{file: file, entry: s[1], arch: m.arch})
		}
		if len(rows) == 0 {
			continue
		}
		r := &rows[len(rows)-1]
		if s := aFrame.FindStringSubmatch(line); s != nil {
			r.stack, r.spills = number(s[1]), max(number(s[2]), number(s[3]))
		}
		if s := itsUse.FindStringSubmatch(line); s != nil {
			r.registers = number(s[1])
			if s := itsRoom.FindStringSubmatch(line); s != nil {
				r.shared = number(s[1])
			}
			b := blockOf(r.entry)
			r.threads = b.threads
			r.shared += b.shared
			m.occupy(r)
		}
	}
	return rows, err
}

// An assembler is ptxas with a folder for what it writes.
type assembler struct{ path, folder string }

// assemble returns the machine code of a file and what ptxas prints.
func (a assembler) assemble(file string, arch int, flags ...string) (code []byte, printed string, err error) {
	to := filepath.Join(a.folder, fmt.Sprint(file, arch, flags))
	args := append([]string{"-v", "--warning-as-error", fmt.Sprintf("-arch=sm_%d", arch), "-o", to, file}, flags...)
	out, err := exec.Command(a.path, args...).CombinedOutput()
	if err != nil {
		return nil, "", fmt.Errorf("%s on sm_%d: %w\n%s", file, arch, err, out)
	}
	code, err = os.ReadFile(to)
	return code, string(out), err
}

// fusedOn is where it is compared what ptxas makes with fusing and without. From capability 10.0 on, what it writes has
// a note of its flags (.note.nv.tkinfo), too.
const fusedOn = 90

// measure returns the rows of a file on m.
func (a assembler) measure(file string, m multiprocessor) ([]row, error) {
	code, printed, err := a.assemble(file, m.arch)
	if err != nil {
		return nil, err
	}
	if m.arch == fusedOn {
		plain, _, err := a.assemble(file, m.arch, "-fmad=false")
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(code, plain) {
			return nil, fmt.Errorf("%s on sm_%d: ptxas fuses products and sums that the source does not fuse", file, m.arch)
		}
	}
	return rowsOf(file, printed, m)
}

// measureAll returns the rows of files in the order of the table.
func (a assembler) measureAll(files []string) (rows []row, err error) {
	var held sync.Mutex
	var all sync.WaitGroup
	free := make(chan bool, runtime.NumCPU())
	for _, file := range files {
		for _, m := range multiprocessors {
			if m.arch < kernels.Needs(file) {
				continue
			}
			free <- true
			all.Go(func() {
				r, e := a.measure(file, m)
				held.Lock()
				rows, err = append(rows, r...), errors.Join(err, e)
				held.Unlock()
				<-free
			})
		}
	}
	all.Wait()
	sortRows(rows)
	return rows, err
}

func sortRows(rows []row) {
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.entry, b.entry), cmp.Compare(a.arch, b.arch))
	})
}

const table = "occupancy.csv"

// readTable returns the rows of the table.
func readTable(name string) (rows []row, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(records) == 0 || !slices.Equal(records[0], header) {
		return nil, errors.Join(fmt.Errorf("%s: not the table of occupancy", name), err)
	}
	for _, record := range records[1:] {
		r := row{file: record[0], entry: record[1]}
		for i, to := range r.numbers() {
			if *to, err = strconv.Atoi(record[2+i]); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func writeTable(name string, rows []row) error {
	records := [][]string{header}
	for _, r := range rows {
		record := []string{r.file, r.entry}
		for _, n := range r.numbers() {
			record = append(record, strconv.Itoa(*n))
		}
		records = append(records, record)
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(records); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// compare returns an error for each row that is not as in the table. Both have the same order.
func compare(rows, was []row) (err error) {
	type key struct {
		file, entry string
		arch        int
	}
	old := map[key]row{}
	for _, r := range was {
		old[key{r.file, r.entry, r.arch}] = r
	}
	for _, r := range rows {
		k := key{r.file, r.entry, r.arch}
		o, ok := old[k]
		delete(old, k)
		switch {
		case !ok:
			err = errors.Join(err, fmt.Errorf("%s on sm_%d is not in the table", r.entry, r.arch))
		case r.percent < o.percent:
			err = errors.Join(err, fmt.Errorf("%s on sm_%d: the occupancy falls from %d to %d %%", r.entry, r.arch, o.percent, r.percent))
		case r != o:
			err = errors.Join(err, fmt.Errorf("%s on sm_%d: the table has %+v, want %+v", r.entry, r.arch, o, r))
		}
	}
	for k := range old {
		err = errors.Join(err, fmt.Errorf("%s on sm_%d is in the table, but not in %s", k.entry, k.arch, k.file))
	}
	return err
}

// run does what the command does in the folder of the kernels.
func run(a assembler, files []string, write bool) (err error) {
	all := len(files) == 0
	if all {
		if files, err = filepath.Glob("*.ptx"); err != nil {
			return err
		}
	}
	rows, err := a.measureAll(files)
	if err != nil {
		return err
	}
	was, err := readTable(table)
	if err != nil && (!write || !errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	if !all { // the others count as they were
		for _, r := range was {
			if !slices.Contains(files, r.file) {
				rows = append(rows, r)
			}
		}
		sortRows(rows)
	}
	err = unexplained(rows)
	changes := compare(rows, was)
	if !write {
		return errors.Join(err, changes)
	}
	if changes != nil {
		fmt.Println(changes)
	}
	return errors.Join(err, writeTable(table, rows))
}

func main() {
	log.SetFlags(0)
	ptxas := flag.String("ptxas", "ptxas", "the assembler, of CUDA 12.9")
	write := flag.Bool("write", false, "write the table")
	flag.Parse()
	folder, err := os.MkdirTemp("", "occupancy")
	if err != nil {
		log.Fatal(err)
	}
	err = run(assembler{*ptxas, folder}, flag.Args(), *write)
	if err = errors.Join(err, os.RemoveAll(folder)); err != nil {
		log.Fatal(err)
	}
}
