package ptx

import (
	"encoding/binary"
	"fmt"
	"sort"
	"strings"
	"sync/atomic"
)

// The address spaces lie apart, so that an address tells its space.
const (
	sharedBase = 1 << 20
	localBase  = 1 << 28
	constBase  = 1 << 32
	globalBase = 1 << 40
)

// A Memory is the global memory of a device. Its allocations lie apart from each other,
// so that an access outside of them is found.
type Memory struct {
	pieces []*piece // in the order of their addresses
	next   uint64
	used   int
	limit  int
}

// NewMemory returns a memory of that many bytes. The addresses of all memories differ.
func NewMemory(limit int) *Memory {
	return &Memory{next: globalBase + (memories.Add(1)-1)<<36, limit: limit}
}

var memories atomic.Uint64 // how many there are

// A piece is an allocation, or the shared memory of a block, or the local one of a
// thread.
type piece struct {
	base  uint64
	data  []byte
	marks []mark // one for each word of 4 bytes, nil if the words are constants
}

// A mark says who touched a word last.
type mark struct {
	written        bool
	launch         int // of the accesses below
	writer, reader access
	readers        bool // more threads of the reader's warp, in its epoch and round
	warps          bool // threads of more than one warp of the reader's block, in its epoch
	blocks         bool // threads of more than one block
}

// An access is of a thread of a block, between two barriers of the block, which bound an epoch,
// and between two of its warp, which bound a round.
type access struct{ block, thread, epoch, round int }

func (a access) sameWarp(b access) bool { return a.thread/warp == b.thread/warp }

const wordBytes = 4

// Used returns how many bytes are allocated.
func (m *Memory) Used() int { return m.used }

// Alloc returns the address of new memory.
func (m *Memory) Alloc(bytes int) (uint64, error) {
	if bytes < 0 || bytes > m.limit-m.used {
		return 0, fmt.Errorf("out of memory: %d bytes asked for, %d of %d in use", bytes, m.used, m.limit)
	}
	p := newPiece(m.next, bytes)
	m.pieces = append(m.pieces, p)
	m.used += bytes
	m.next += uint64(bytes+255)/256*256 + 4096
	return p.base, nil
}

func newPiece(base uint64, bytes int) *piece {
	return &piece{base: base, data: make([]byte, bytes), marks: make([]mark, (bytes+wordBytes-1)/wordBytes)}
}

// Free gives memory back.
func (m *Memory) Free(base uint64) error {
	for i, p := range m.pieces {
		if p.base == base {
			m.used -= len(p.data)
			m.pieces = append(m.pieces[:i], m.pieces[i+1:]...)
			return nil
		}
	}
	return fmt.Errorf("no allocation begins at %#x", base)
}

// Forget takes back that anything was written to the allocation that begins at an address.
func (m *Memory) Forget(base uint64) error {
	p, off, err := m.find(base, 0)
	if err != nil || p == nil || off > 0 {
		return fmt.Errorf("no allocation begins at %#x", base)
	}
	clear(p.marks)
	return nil
}

// Write copies data from the host to an address.
func (m *Memory) Write(at uint64, data []byte) error {
	p, off, err := m.find(at, len(data))
	if err != nil || len(data) == 0 {
		return err
	}
	copy(p.data[off:], data)
	for w := off / wordBytes; w <= (off+len(data)-1)/wordBytes; w++ {
		p.marks[w] = mark{written: true}
	}
	return nil
}

// Read copies data from an address to the host. Memory that nobody wrote is zero.
func (m *Memory) Read(data []byte, at uint64) error {
	p, off, err := m.find(at, len(data))
	if err != nil || len(data) == 0 {
		return err
	}
	copy(data, p.data[off:])
	return nil
}

// find returns the piece that holds size bytes from an address on, and where in it.
func (m *Memory) find(at uint64, size int) (*piece, int, error) {
	i := sort.Search(len(m.pieces), func(i int) bool { return m.pieces[i].base > at }) - 1
	if i >= 0 {
		p := m.pieces[i]
		if off := at - p.base; off <= uint64(len(p.data)) && uint64(len(p.data))-off >= uint64(size) {
			return p, int(off), nil
		}
	}
	if size == 0 {
		return nil, 0, nil
	}
	return nil, 0, fmt.Errorf("%d bytes at %#x are in no allocation", size, at)
}

// A fault is what is wrong with an access. The interpreter panics with it.
type fault string

// at returns the memory of size bytes at an address, and panics with a fault if there is
// none.
func (t *thread) at(space string, addr uint64, size int) (*piece, int) {
	var p *piece
	switch {
	case addr >= globalBase && (space == "global" || space == ""):
		q, _, err := t.block.memory.find(addr, size)
		if err != nil {
			panic(fault(err.Error()))
		}
		p = q
	case addr >= constBase && addr < globalBase && (space == "const" || space == "global" || space == ""):
		p = t.block.kernel.module.constants
	case addr >= localBase && addr < constBase && (space == "local" || space == ""):
		p = t.local
	case addr < localBase && (space == "shared" || space == ""):
		p = t.block.shared
	}
	if p == nil || addr < p.base || addr-p.base > uint64(len(p.data)) || uint64(len(p.data))-(addr-p.base) < uint64(size) {
		panic(fault(fmt.Sprintf("%d bytes at %#x are not in %s memory", size, addr, space)))
	}
	if addr%uint64(size) != 0 {
		panic(fault(fmt.Sprintf("%d bytes at %#x are not aligned", size, addr)))
	}
	return p, int(addr - p.base)
}

func (t *thread) load(space string, addr uint64, size int) uint64 {
	p, off := t.at(space, addr, size)
	own := t.access()
	for w := off / wordBytes; p.marks != nil && w <= (off+size-1)/wordBytes; w++ {
		m := &p.marks[w]
		if !m.written {
			panic(fault(fmt.Sprintf("reads %#x, which nobody wrote", addr)))
		}
		m.read(own, t.block.launch, addr)
	}
	var b [8]byte
	copy(b[:], p.data[off:off+size])
	return binary.LittleEndian.Uint64(b[:])
}

func (t *thread) store(space string, addr uint64, size int, v uint64) {
	p, off := t.at(space, addr, size)
	if p.marks == nil {
		panic(fault(fmt.Sprintf("writes %#x, which is constant", addr)))
	}
	own := t.access()
	for w := off / wordBytes; w <= (off+size-1)/wordBytes; w++ {
		p.marks[w].write(own, t.block.launch, addr)
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	copy(p.data[off:off+size], b[:])
}

// ordered reports whether a barrier, or nothing at all, stands between two accesses.
func ordered(a, b access) bool {
	return a.block == b.block && (a.thread == b.thread || a.epoch != b.epoch || a.sameWarp(b) && a.round != b.round)
}

// renew forgets the accesses of earlier launches.
func (m *mark) renew(launch int) {
	if m.launch != launch {
		none := access{-1, -1, -1, -1}
		*m = mark{written: m.written, launch: launch, writer: none, reader: none}
	}
}

func (m *mark) read(own access, launch int, addr uint64) {
	m.renew(launch)
	if m.writer.block >= 0 && !ordered(m.writer, own) {
		panic(fault(fmt.Sprintf("reads %#x, which thread %d of block %d writes without a barrier between", addr, m.writer.thread, m.writer.block)))
	}
	switch {
	case m.reader.block < 0:
	case m.reader.block != own.block:
		m.blocks = true
	case m.reader.epoch == own.epoch && !m.reader.sameWarp(own):
		m.warps = true
	case m.reader.epoch == own.epoch && m.reader.round == own.round:
		m.readers = m.readers || m.reader.thread != own.thread
	case m.reader.epoch == own.epoch:
		m.readers = false
	default:
		m.readers, m.warps = false, false
	}
	m.reader = own
}

func (m *mark) write(own access, launch int, addr uint64) {
	m.renew(launch)
	switch {
	case m.writer.block >= 0 && !ordered(m.writer, own):
		panic(fault(fmt.Sprintf("writes %#x, which thread %d of block %d writes too without a barrier between", addr, m.writer.thread, m.writer.block)))
	case m.reader.block >= 0 && (m.blocks || !ordered(m.reader, own) || m.reader.epoch == own.epoch && (m.warps || m.readers && m.reader.round == own.round)):
		panic(fault(fmt.Sprintf("writes %#x, which thread %d of block %d reads without a barrier between", addr, m.reader.thread, m.reader.block)))
	}
	m.written, m.writer = true, own
}

// access returns a load or store of one, two or four numbers.
func (p *parser) access(words, args []string) (func(t *thread), error) {
	typ := words[len(words)-1]
	size, err := sizeOf(typ)
	if err != nil {
		return nil, err
	}
	space, width := "", 1
	for _, w := range words[1 : len(words)-1] {
		switch w {
		case "global", "shared", "local", "param", "const":
			space = w
		case "v2":
			width = 2
		case "v4":
			width = 4
		case "nc", "weak", "volatile":
		default:
			return nil, fmt.Errorf("unknown qualifier %q", w)
		}
	}
	place, value := args[1], args[0]
	if words[0] == "st" {
		place, value = args[0], args[1]
	}
	address, err := p.address(strings.Trim(place, "[]"), space)
	if err != nil {
		return nil, err
	}
	names := []string{value}
	if width > 1 {
		if names, err = operands(strings.Trim(value, "{}")); err != nil {
			return nil, err
		}
	}
	if len(names) != width {
		return nil, fmt.Errorf("%d numbers, want %d", len(names), width)
	}
	steps := make([]func(t *thread, addr uint64), width)
	for i, name := range names {
		by := uint64(i * size)
		if words[0] == "st" {
			get, err := p.source(name, typ)
			if err != nil {
				return nil, err
			}
			steps[i] = func(t *thread, addr uint64) { t.store(space, addr+by, size, get(t)) }
			continue
		}
		set, err := p.target(name)
		if err != nil {
			return nil, err
		}
		load := func(t *thread, addr uint64) uint64 { return t.load(space, addr, size) }
		if space == "param" {
			load = func(t *thread, addr uint64) uint64 {
				return truncate(t.block.params[addr/8]>>(addr%8*8), size)
			}
		}
		if typ[0] == 's' {
			set32 := set
			set = func(t *thread, v uint64) { set32(t, truncate(uint64(extend(v, size)), max(size, 4))) }
		}
		steps[i] = func(t *thread, addr uint64) { set(t, load(t, addr+by)) }
	}
	store := words[0] == "st"
	return func(t *thread) {
		addr := address(t)
		if t.block.traffic != nil && addr >= globalBase && space != "param" {
			t.block.traffic.touch(t, addr, width*size, store)
		}
		if width > 1 && space != "param" && addr%uint64(width*size) != 0 {
			panic(fault(fmt.Sprintf("%d bytes at %#x are not aligned", width*size, addr)))
		}
		for _, step := range steps {
			step(t, addr)
		}
	}, nil
}

// address reads what stands in brackets: a register or a name, plus a number.
func (p *parser) address(text, space string) (func(t *thread) uint64, error) {
	name, by, _ := strings.Cut(text, "+")
	var off uint64
	if by != "" {
		var err error
		if off, err = literal(strings.TrimSpace(by), "s64"); err != nil {
			return nil, err
		}
	}
	name = strings.TrimSpace(name)
	if space == "param" {
		at, ok := p.kernel.offset[name]
		if !ok {
			return nil, fmt.Errorf("no parameter %s", name)
		}
		return constant(uint64(at) + off), nil
	}
	base, err := p.source(name, "u64")
	if err != nil {
		return nil, err
	}
	return func(t *thread) uint64 { return base(t) + off }, nil
}
