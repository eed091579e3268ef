package ptx

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
)

// The address spaces lie apart, so that an address tells its space.
const (
	sharedBase = 1 << 20
	teamBase   = 1 << 24 // the shared memory of the blocks of a cluster, each with teamBytes
	teamBytes  = 1 << 20
	localBase  = 1 << 28
	constBase  = 1 << 32
	globalBase = 1 << 40
)

// A Memory is the global memory of a device. Its allocations lie apart from each other,
// so that an access outside of them is found.
type Memory struct {
	pieces []*piece // in the order of their addresses
	last   *piece   // the one that was found last
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
// thread. The latter two are used by one block after the other, and nothing is written there when
// one begins.
type piece struct {
	base  uint64
	data  []byte
	marks []mark // one for each word of 4 bytes, nil if the words are constants
	block bool   // whether it is of a block
}

// A mark says who touched a word last.
type mark struct {
	writer, reader access
	of             int32 // the launch of these accesses, or the block in memory of a block
	written        bool
	readers        bool // more threads of the reader's warp, in its epoch and round
	warps          bool // threads of more than one warp of the reader's block, in its epoch
	blocks         bool // threads of more than one block, or of one cluster since its last barrier
	clusters       bool // threads of more than one cluster
}

// An access is of a thread of a block, between two barriers of the block, which bound an epoch,
// and between two of its warp, which bound a round.
type access struct{ block, thread, epoch, round int32 }

func (a access) sameWarp(b access) bool { return a.thread/warp == b.thread/warp }

const wordBytes = 4

// Used returns how many bytes are allocated.
func (m *Memory) Used() int { return m.used }

// Limit returns how many bytes can be allocated.
func (m *Memory) Limit() int { return m.limit }

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
	i := m.after(base) - 1
	if i < 0 || m.pieces[i].base != base {
		return fmt.Errorf("no allocation begins at %#x", base)
	}
	m.used -= len(m.pieces[i].data)
	m.pieces = slices.Delete(m.pieces, i, i+1)
	m.last = nil
	return nil
}

// after returns how many allocations begin at an address or before.
func (m *Memory) after(at uint64) int {
	return sort.Search(len(m.pieces), func(i int) bool { return m.pieces[i].base > at })
}

// renewed returns a piece of a block at a base, in the room of p if that is enough.
func (p *piece) renewed(base uint64, bytes int) *piece {
	if p == nil || cap(p.data) < bytes {
		p = newPiece(base, bytes)
		p.block = true
	}
	p.data = p.data[:bytes]
	return p
}

// Forget marks as unwritten the allocation that begins at an address.
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

// Piece returns where the allocation begins that holds an address, and its bytes, or nil.
func (m *Memory) Piece(at uint64) (base uint64, data []byte) {
	p, _, _ := m.find(at, 1)
	if p == nil {
		return 0, nil
	}
	return p.base, p.data
}

// find returns the piece that holds size bytes from an address on, and where in it.
func (m *Memory) find(at uint64, size int) (*piece, int, error) {
	if m.last.has(at, size) {
		return m.last, int(at - m.last.base), nil
	}
	if i := m.after(at) - 1; i >= 0 && m.pieces[i].has(at, size) {
		m.last = m.pieces[i]
		return m.last, int(at - m.last.base), nil
	}
	if size == 0 {
		return nil, 0, nil
	}
	return nil, 0, fmt.Errorf("%d bytes at %#x are in no allocation", size, at)
}

// has reports whether size bytes from an address on are in a piece.
func (p *piece) has(at uint64, size int) bool {
	return p != nil && at >= p.base && at-p.base <= uint64(len(p.data)) && uint64(len(p.data))-(at-p.base) >= uint64(size)
}

// A fault is what is wrong with an access. The interpreter panics with it.
type fault string

// A space says which addresses an instruction may use.
type space uint8

const (
	anySpace space = iota
	globalSpace
	sharedSpace
	localSpace
	constantSpace
	paramSpace
)

var spaces = [...]string{"", "global", "shared", "local", "const", "param"}

// at returns the memory of size bytes at an address, and panics with a fault if there is
// none.
func (t *thread) at(s space, addr uint64, size int) (*piece, int) {
	p, of := t.block.shared, sharedSpace
	switch {
	case addr >= globalBase:
		p, of = t.block.memory.last, globalSpace
	case addr >= constBase:
		p, of = t.block.kernel.module.constants, constantSpace
	case addr >= localBase:
		p, of = t.local, localSpace
	case addr >= teamBase:
		p, of = t.block.sharedOf(int((addr-teamBase)/teamBytes)), anySpace
		addr = sharedBase + addr%teamBytes
	}
	if s != anySpace && s != of && (s != globalSpace || of != constantSpace) {
		p = nil
	} else if of == globalSpace && !p.has(addr, size) {
		var err error
		if p, _, err = t.block.memory.find(addr, size); err != nil {
			panic(fault(err.Error()))
		}
	}
	if !p.has(addr, size) {
		panic(fault(fmt.Sprintf("%d bytes at %#x are not in %s memory", size, addr, spaces[s])))
	}
	if addr&uint64(size-1) != 0 {
		panic(fault(fmt.Sprintf("%d bytes at %#x are not aligned", size, addr)))
	}
	return p, int(addr - p.base)
}

// load returns a number of global or shared memory.
func (t *thread) load(s space, addr uint64, size int) uint64 {
	p, off := t.at(s, addr, size)
	t.read(p, off, size, addr)
	return number(p.data[off:], size)
}

func (t *thread) store(s space, addr uint64, size int, v uint64) {
	p, off := t.at(s, addr, size)
	t.write(p, off, size, addr)
	setNumber(p.data[off:], size, v)
}

func number(data []byte, size int) uint64 {
	switch size {
	case 8:
		return binary.LittleEndian.Uint64(data)
	case 4:
		return uint64(binary.LittleEndian.Uint32(data))
	case 2:
		return uint64(binary.LittleEndian.Uint16(data))
	default:
		return uint64(data[0])
	}
}

func setNumber(data []byte, size int, v uint64) {
	switch size {
	case 8:
		binary.LittleEndian.PutUint64(data, v)
	case 4:
		binary.LittleEndian.PutUint32(data, uint32(v))
	case 2:
		binary.LittleEndian.PutUint16(data, uint16(v))
	default:
		data[0] = byte(v)
	}
}

// read marks bytes of a piece as read, and panics with a fault if nobody wrote them or somebody else
// writes them.
func (t *thread) read(p *piece, off, size int, addr uint64) {
	if p.marks == nil {
		return
	}
	own, of := t.access(), t.block.launchOf(p)
	marks := p.marks[off/wordBytes : (off+size-1)/wordBytes+1]
	for i := range marks {
		m := &marks[i]
		if m.of == of && m.written && m.reader == own {
			continue // who wrote since then was at fault
		}
		m.renew(of, p.block)
		m.settle(t.block)
		if !m.written {
			panic(fault(fmt.Sprintf("reads %#x, which nobody wrote", addr)))
		}
		m.read(t.block, own, addr)
	}
}

// write does the same for a store.
func (t *thread) write(p *piece, off, size int, addr uint64) {
	if p.marks == nil {
		panic(fault(fmt.Sprintf("writes %#x, which is constant", addr)))
	}
	own, of := t.access(), t.block.launchOf(p)
	marks := p.marks[off/wordBytes : (off+size-1)/wordBytes+1]
	for i := range marks {
		m := &marks[i]
		m.renew(of, p.block)
		m.settle(t.block)
		m.write(t.block, own, addr)
	}
}

// launchOf returns what the accesses to a piece belong to.
func (b *block) launchOf(p *piece) int32 {
	if p.block {
		return b.serial
	}
	return b.launch
}

// ordered reports whether a barrier, or nothing at all, stands between an access and one of the block.
func (b *block) ordered(x, y access) bool {
	return b.past(x) || x.block == y.block && (x.thread == y.thread || x.epoch != y.epoch || x.sameWarp(y) && x.round != y.round)
}

// renew forgets the accesses of earlier launches. In memory of a block it forgets all that was
// before this block.
func (m *mark) renew(of int32, block bool) {
	if m.of != of {
		none := access{-1, -1, -1, -1}
		*m = mark{written: m.written && !block, of: of, writer: none, reader: none}
	}
}

func (m *mark) read(of *block, own access, addr uint64) {
	if m.writer.block >= 0 && !of.ordered(m.writer, own) {
		panic(fault(fmt.Sprintf("reads %#x, which thread %d of block %d writes without a barrier between", addr, m.writer.thread, m.writer.block)))
	}
	switch {
	case m.reader.block < 0:
	case m.reader.block != own.block:
		m.blocks, m.clusters = !of.past(m.reader) || m.clusters, m.clusters || !of.near(m.reader)
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

func (m *mark) write(of *block, own access, addr uint64) {
	switch {
	case m.writer.block >= 0 && !of.ordered(m.writer, own):
		panic(fault(fmt.Sprintf("writes %#x, which thread %d of block %d writes too without a barrier between", addr, m.writer.thread, m.writer.block)))
	case m.reader.block >= 0 && (m.blocks || !of.ordered(m.reader, own) || m.reader.epoch == own.epoch && (m.warps || m.readers && m.reader.round == own.round)):
		panic(fault(fmt.Sprintf("writes %#x, which thread %d of block %d reads without a barrier between", addr, m.reader.thread, m.reader.block)))
	}
	m.written, m.writer = true, own
}

// access reads a load or store of one, two or four numbers.
func (p *parser) access(in *instruction, words, args []string) error {
	typ := words[len(words)-1]
	size, err := sizeOf(typ)
	if err != nil {
		return err
	}
	where, width := anySpace, 1
	for _, w := range words[1 : len(words)-1] {
		switch w {
		case "global", "shared", "local", "param", "const":
			where = space(slices.Index(spaces[:], w))
		case "v2":
			width = 2
		case "v4":
			width = 4
		case "nc", "cg", "cs", "weak", "volatile":
		default:
			return fmt.Errorf("unknown qualifier %q", w)
		}
	}
	store := words[0] == "st"
	place, value := args[1], args[0]
	if store {
		place, value = args[0], args[1]
	}
	names := []string{value}
	if width > 1 {
		if names, err = operands(strings.Trim(value, "{}")); err != nil {
			return err
		}
	}
	if len(names) != width {
		return fmt.Errorf("%d numbers, want %d", len(names), width)
	}
	regs := make([]int32, width)
	for i, name := range names {
		if store {
			regs[i], err = p.source(name, typ)
		} else {
			regs[i], err = p.target(name)
		}
		if err != nil {
			return err
		}
	}
	signed, full := typ[0] == 's', 4 // bytes of a register
	if strings.HasPrefix(names[0], "%rd") {
		full = 8
	}
	base, off, err := p.address(strings.Trim(place, "[]"), where)
	if err != nil {
		return err
	}
	if where == paramSpace {
		if width > 1 {
			return fmt.Errorf("only one number of a parameter is known")
		}
		in.kind, in.to, in.a = move, regs[0], p.newRegister(0)
		p.kernel.passed = append(p.kernel.passed, parameterRegister{in.a, func(params []uint64) uint64 {
			v := truncate(params[off/8]>>(off%8*8), size)
			if signed {
				v = truncate(uint64(extend(v, size)), full)
			}
			return v
		}})
		return nil
	}
	bytes := width * size
	in.do = func(t *thread) {
		addr := t.regs[base] + off
		if t.block.traffic != nil && addr >= globalBase {
			t.block.traffic.touch(t, addr, bytes, store)
		}
		p, at := t.at(where, addr, bytes)
		if store {
			t.write(p, at, bytes, addr)
		} else {
			t.read(p, at, bytes, addr)
		}
		data := p.data[at : at+bytes]
		for i, r := range regs {
			switch part := data[i*size:]; {
			case store:
				setNumber(part, size, t.regs[r])
			case signed:
				t.regs[r] = truncate(uint64(extend(number(part, size), size)), full)
			default:
				t.regs[r] = number(part, size)
			}
		}
	}
	return nil
}

// address reads what stands in brackets: a register or a name, plus a number. A parameter has no
// register.
func (p *parser) address(text string, where space) (base int32, off uint64, err error) {
	name, by, _ := strings.Cut(text, "+")
	if by != "" {
		if off, err = literal(strings.TrimSpace(by), "s64"); err != nil {
			return 0, 0, err
		}
	}
	name = strings.TrimSpace(name)
	if where == paramSpace {
		at, ok := p.kernel.offset[name]
		if !ok {
			return 0, 0, fmt.Errorf("no parameter %s", name)
		}
		return -1, uint64(at) + off, nil
	}
	base, err = p.source(name, "u64")
	return base, off, err
}
