package ptx

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// warp is how many threads exchange values by shuffles.
const warp = 32

// A Grid says how many blocks of how many threads run.
type Grid struct{ Blocks, Threads [3]int }

// A Machine runs kernels over a memory.
type Machine struct {
	Memory  *Memory
	Traffic map[string]Traffic // of kernels by name; not counted if nil
	Cached  int                // loads from memory that was allocated with up to so many bytes are not counted
	launch  int32
	serial  int32 // how many blocks have run, or clusters

	// What blocks take, one after the other, or those of a cluster.
	threads []thread
	regs    []uint64
	shared  [mostTeam]*piece
	local   []*piece // of each thread
}

// maxSteps bounds the instructions of a thread between two barriers, so that a loop
// without end is an error.
const maxSteps = 1 << 24

// A thread is at an instruction of a kernel.
type thread struct {
	regs   []uint64
	carry  uint64
	pc     int
	id     [3]int
	number int // within the block
	block  *block
	local  *piece
	done   bool
	waits  bool  // at a barrier or shuffle
	round  int32 // how many barriers of its warp it has passed
	copies []asyncCopy
	groups [][]asyncCopy // that it has not waited for
}

// A block is one of a grid at work.
type block struct {
	kernel         *Kernel
	memory         *Memory
	shared         *piece
	params         []uint64
	id, size, grid [3]int
	number         int
	epoch          int32
	since          int32   // the epoch in which all blocks of the cluster came from a barrier of theirs, 0 for none
	used           int32   // the last epoch in which others of the cluster used the shared memory, or -1
	team           []block // the cluster
	launch, serial int32   // the latter numbers all blocks of the machine that are in no cluster, and all clusters
	threads        []thread
	now            *thread  // the one that runs
	traffic        *touched // nil if it is not counted
}

func (t *thread) access() access {
	return access{int32(t.block.number), int32(t.number), t.block.epoch, t.round}
}

// Launch runs a kernel. A parameter has 8 bytes; smaller ones are in the low bytes.
// Blocks run one after the other, and so do the threads of a block between two barriers, and the blocks of a
// cluster between two of theirs.
func (m *Machine) Launch(k *Kernel, g Grid, params []uint64) (err error) {
	if len(params) != len(k.Params) {
		return fmt.Errorf("kernel %s has %d parameters, not %d", k.Name, len(k.Params), len(params))
	}
	size := g.Threads[0] * g.Threads[1] * g.Threads[2]
	blocks := g.Blocks[0] * g.Blocks[1] * g.Blocks[2]
	if size < 1 || size > 1024 || g.Threads[2] > 64 || blocks < 1 || g.Blocks[0] > math.MaxInt32 || max(g.Blocks[1], g.Blocks[2]) > math.MaxUint16 || k.shared > 48<<10 {
		return fmt.Errorf("kernel %s: no machine runs %v blocks of %v threads with %d bytes of shared memory", k.Name, g.Blocks, g.Threads, k.shared)
	}
	if k.most > 0 && size > k.most {
		return fmt.Errorf("kernel %s: %d threads of a block, its bound is %d", k.Name, size, k.most)
	}
	n := max(k.team, 1)
	if g.Blocks[0]%n != 0 {
		return fmt.Errorf("kernel %s: %d blocks are not clusters of %d", k.Name, g.Blocks[0], n)
	}
	m.launch++
	team := make([]block, n)
	m.reserve(size*n, n, k, params)
	for first := 0; first < blocks; first += n {
		m.serial++
		for i := range team {
			b := &team[i]
			*b = block{
				kernel: k, memory: m.Memory, params: params, size: g.Threads, grid: g.Blocks, number: first + i, used: -1, team: team,
				launch: m.launch, serial: m.serial, threads: m.threads[i*size : (i+1)*size], shared: m.shared[i],
			}
			m.prepare(b, k)
		}
		if err := runTeam(team); err != nil {
			return err
		}
		for i := range team {
			if m.Traffic != nil {
				m.Traffic[k.Name] = team[i].traffic.addTo(m.Traffic[k.Name])
			}
		}
	}
	return nil
}

// prepare puts the threads of a block at its beginning.
func (m *Machine) prepare(b *block, k *Kernel) {
	g, t := b.grid, b.size
	b.id = [3]int{b.number % g[0], b.number / g[0] % g[1], b.number / (g[0] * g[1])}
	before := b.rank() * len(b.threads)
	for i := range b.threads {
		at := before + i
		b.threads[i] = thread{
			regs: m.regs[at*len(k.regs) : (at+1)*len(k.regs)], number: i, block: b, local: m.local[at],
			id: [3]int{i % t[0], i / t[0] % t[1], i / (t[0] * t[1])},
		}
		for _, s := range k.specials {
			b.threads[i].regs[s.at] = s.get(&b.threads[i])
		}
	}
	if m.Traffic != nil {
		b.traffic = &touched{memory: m.Memory, cached: m.Cached}
	}
}

// reserve makes room for that many threads of so many blocks, with the registers as they are at first.
func (m *Machine) reserve(size, blocks int, k *Kernel, params []uint64) {
	n := len(k.regs)
	m.threads = slices.Grow(m.threads[:0], size)[:size]
	m.regs = slices.Grow(m.regs[:0], size*n)[:size*n]
	copy(m.regs, k.regs)
	for _, r := range k.passed {
		m.regs[r.at] = r.load(params)
	}
	for i := 1; i < size; i++ {
		copy(m.regs[i*n:], m.regs[:n])
	}
	for i := range blocks {
		m.shared[i] = m.shared[i].renewed(sharedBase, k.shared)
	}
	for len(m.local) < size {
		m.local = append(m.local, nil)
	}
	for i := range size {
		m.local[i] = m.local[i].renewed(localBase, k.local)
	}
}

// run runs the threads of a block to their end, or to a barrier of the cluster.
func (b *block) run() (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case fault:
			err = b.now.failure(string(v))
		default:
			panic(v)
		}
	}()
	for {
		active := 0
		for i := range b.threads {
			t := &b.threads[i]
			if t.done {
				continue
			}
			if !t.waits {
				if err := t.run(); err != nil {
					return err
				}
			}
			if !t.done {
				active++
			}
		}
		if active == 0 {
			return nil
		}
		if b.shuffle() {
			continue
		}
		// Nothing is left but a barrier, one at which all threads are that have not ended.
		var before *thread
		for i := range b.threads {
			t := &b.threads[i]
			switch {
			case t.done:
				continue
			case b.kernel.code[t.pc].kind == shuffle:
				return t.failure("waits for lanes that do not come")
			case before != nil && before.pc != t.pc:
				return t.failure(fmt.Sprintf("is at another barrier than thread %v", before.id))
			}
			before = t
		}
		if b.kernel.code[before.pc].kind == clusterBarrier {
			b.now = before
			return nil
		}
		b.epoch++
		b.pass()
	}
}

// pass lets the threads of a block go on from a barrier.
func (b *block) pass() {
	for i := range b.threads {
		t := &b.threads[i]
		if !t.done {
			t.waits = false
			t.pc++
		}
	}
}

// shuffle makes the exchanges and products for which all lanes of a warp are there. It reports
// whether there were any.
func (b *block) shuffle() (any bool) {
	for first := 0; first < len(b.threads); first += warp {
		lanes := b.threads[first:min(first+warp, len(b.threads))]
		together, pc := true, lanes[0].pc
		for i := range lanes {
			together = together && !lanes[i].done && lanes[i].pc == pc
		}
		if in := &b.kernel.code[pc]; !together || in.kind != shuffle || !in.all(lanes) {
			continue
		}
		for i := range lanes {
			lanes[i].waits = false
			lanes[i].pc++
		}
		any = true
	}
	return any
}

// run runs a thread until it waits or ends. It panics with a fault if an access is wrong.
func (t *thread) run() error {
	t.block.now = t
	code, regs := t.block.kernel.code, t.regs
	pc := t.pc
	for range maxSteps {
		in := &code[pc]
		if in.guard >= 0 && (regs[in.guard] != 0) == in.negate {
			pc++
			continue
		}
		switch in.kind {
		case twofold:
			regs[in.to] = in.f2(regs[in.a], regs[in.b])
		case move:
			regs[in.to] = regs[in.a]
		case add64:
			regs[in.to] = regs[in.a] + regs[in.b]
		case narrow:
			regs[in.to] = regs[in.a] & math.MaxUint32
		case left64:
			regs[in.to] = regs[in.a] << regs[in.b]
		case multiply64:
			regs[in.to] = regs[in.a] * regs[in.b]
		case or64:
			regs[in.to] = regs[in.a] | regs[in.b]
		case less64:
			regs[in.to] = b1(int64(regs[in.a]) < int64(regs[in.b]))
		case notLess64:
			regs[in.to] = b1(int64(regs[in.a]) >= int64(regs[in.b]))
		case fma64:
			regs[in.to] = b64(math.FMA(f64(regs[in.a]), f64(regs[in.b]), f64(regs[in.c])))
		case addFloat:
			regs[in.to] = b64(f64(regs[in.a]) + f64(regs[in.b]))
		case multiplyFloat:
			regs[in.to] = b64(f64(regs[in.a]) * f64(regs[in.b]))
		case onefold:
			regs[in.to] = in.f1(regs[in.a])
		case threefold:
			regs[in.to] = in.f3(regs[in.a], regs[in.b], regs[in.c])
		case addCarry:
			if in.c < 0 {
				t.carry = 0
			}
			regs[in.to], t.carry = bits.Add64(regs[in.a], regs[in.b], t.carry)
		case subtractBorrow:
			if in.c < 0 {
				t.carry = 0
			}
			regs[in.to], t.carry = bits.Sub64(regs[in.a], regs[in.b], t.carry)
		case plain:
			t.pc = pc // for a fault
			in.do(t)
		case branch:
			pc = in.target
			continue
		case exit:
			t.done = true
			return nil
		default:
			t.pc = pc
			t.waits = true
			return nil
		}
		pc++
	}
	t.pc = pc
	return t.failure("does not end")
}

// failure returns an error that says where the thread is.
func (t *thread) failure(text string) error {
	k := t.block.kernel
	return fmt.Errorf("%s:%d: kernel %s, block %v, thread %v: %s", k.file, k.code[t.pc].line, k.Name, t.block.id, t.id, text)
}
