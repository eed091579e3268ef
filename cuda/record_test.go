package cuda

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"revnum/cuda/internal/ptx"
	"revnum/cuda/kernels"
)

// A record is a launch with the memory that it uses, before and after. kernels/host runs it again.
type record struct {
	memory *ptx.Memory
	kernel string
	words  []uint64
	pieces []recordedPiece
	number int
}

type recordedPiece struct {
	at     uint64
	before []byte
}

// Of each kernel there are few records, of the largest grids. Threads of the host are slow, so these
// are not large.
const (
	mostRecords = 2
	mostThreads = 1500
	mostBytes   = 1 << 20
)

// recorded has the grids of the records of each kernel.
var recorded struct {
	sync.Mutex
	of map[string][]grid
}

func (g grid) size() int {
	return g.blocks[0] * g.blocks[1] * g.blocks[2] * g.threads[0] * g.threads[1] * g.threads[2]
}

// recordPlace returns the number of the record that a launch takes, or -1 if it is not recorded.
func recordPlace(kernel string, g grid) int {
	grids := recorded.of[kernel]
	if g.size() > mostThreads || slices.Contains(grids, g) {
		return -1
	}
	if len(grids) < mostRecords {
		recorded.of[kernel] = append(grids, g)
		return len(grids)
	}
	for i, old := range grids {
		if old.size() < g.size() {
			grids[i] = g
			return i
		}
	}
	return -1
}

// newRecord returns a record of a launch that is about to run, or nil if REVNUM_RECORD is not set or
// others are recorded.
func newRecord(m *ptx.Memory, kernel string, g grid, params []uint64) *record {
	if os.Getenv("REVNUM_RECORD") == "" {
		return nil
	}
	r := &record{memory: m, kernel: kernel}
	bytes := 0
	for _, p := range params {
		base, data := m.Piece(p)
		if data != nil && !slices.ContainsFunc(r.pieces, func(q recordedPiece) bool { return q.at == base }) {
			r.pieces = append(r.pieces, recordedPiece{at: base, before: data})
			bytes += len(data)
		}
	}
	if bytes > mostBytes {
		return nil
	}
	recorded.Lock()
	defer recorded.Unlock()
	if recorded.of == nil {
		recorded.of = map[string][]grid{}
	}
	if r.number = recordPlace(kernel, g); r.number < 0 {
		return nil
	}
	for i := range r.pieces {
		r.pieces[i].before = slices.Clone(r.pieces[i].before)
	}
	for _, n := range append(g.blocks[:], g.threads[:]...) {
		r.words = append(r.words, uint64(n))
	}
	r.words = append(append(append(r.words, uint64(len(params))), params...), uint64(len(r.pieces)))
	return r
}

// write writes a record after its launch, in a folder of the file of the kernel.
func (r *record) write() error {
	if r == nil {
		return nil
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(r.kernel)))
	b = append(b, r.kernel...)
	for _, w := range r.words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	for _, p := range r.pieces {
		_, after := r.memory.Piece(p.at)
		b = binary.LittleEndian.AppendUint64(b, p.at)
		b = binary.LittleEndian.AppendUint64(b, uint64(len(after)))
		b = append(append(b, p.before...), after...)
	}
	folder := filepath.Join(os.Getenv("REVNUM_RECORD"), strings.TrimSuffix(kernels.File(r.kernel), ".ptx"))
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, fmt.Sprint(r.kernel, "-", r.number)), b, 0o666)
}
