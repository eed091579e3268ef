package ptx

import (
	"fmt"
	"math"
)

// warp is how many threads exchange values by shuffles.
const warp = 32

// A Grid says how many blocks of how many threads run.
type Grid struct{ Blocks, Threads [3]int }

// A Machine runs kernels over a memory.
type Machine struct {
	Memory  *Memory
	Traffic map[string]Traffic // of kernels by name; not counted if nil
	launch  int
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
	waits  bool // at a barrier or shuffle
	round  int  // how many barriers of its warp it has passed
}

// A block is one of a grid at work.
type block struct {
	kernel         *Kernel
	memory         *Memory
	shared         *piece
	params         []uint64
	id, size, grid [3]int
	number, epoch  int
	launch         int
	threads        []thread
	traffic        *touched // nil if it is not counted
}

func (t *thread) access() access { return access{t.block.number, t.number, t.block.epoch, t.round} }

// Launch runs a kernel. A parameter has 8 bytes; smaller ones are in the low bytes.
// Blocks run one after the other, and so do the threads of a block between two barriers.
func (m *Machine) Launch(k *Kernel, g Grid, params []uint64) (err error) {
	if len(params) != len(k.Params) {
		return fmt.Errorf("kernel %s has %d parameters, not %d", k.Name, len(k.Params), len(params))
	}
	size := g.Threads[0] * g.Threads[1] * g.Threads[2]
	blocks := g.Blocks[0] * g.Blocks[1] * g.Blocks[2]
	if size < 1 || size > 1024 || g.Threads[2] > 64 || blocks < 1 || g.Blocks[0] > math.MaxInt32 || max(g.Blocks[1], g.Blocks[2]) > math.MaxUint16 || k.shared > 48<<10 {
		return fmt.Errorf("kernel %s: no machine runs %v blocks of %v threads with %d bytes of shared memory", k.Name, g.Blocks, g.Threads, k.shared)
	}
	m.launch++
	b := &block{kernel: k, memory: m.Memory, params: params, size: g.Threads, grid: g.Blocks, launch: m.launch, threads: make([]thread, size)}
	regs := make([]uint64, size*k.regs)
	for i := range b.threads {
		b.threads[i].regs = regs[i*k.regs : (i+1)*k.regs]
	}
	for b.number = range blocks {
		b.id = [3]int{b.number % g.Blocks[0], b.number / g.Blocks[0] % g.Blocks[1], b.number / (g.Blocks[0] * g.Blocks[1])}
		b.shared = newPiece(sharedBase, k.shared)
		b.epoch = 0
		for i := range b.threads {
			t := &b.threads[i]
			*t = thread{
				regs: t.regs, number: i, block: b,
				id: [3]int{i % g.Threads[0], i / g.Threads[0] % g.Threads[1], i / (g.Threads[0] * g.Threads[1])},
			}
			if k.local > 0 {
				t.local = newPiece(localBase, k.local)
			}
		}
		if m.Traffic != nil {
			b.traffic = &touched{}
		}
		if err := b.run(); err != nil {
			return err
		}
		if m.Traffic != nil {
			m.Traffic[k.Name] = b.traffic.addTo(m.Traffic[k.Name])
		}
	}
	return nil
}

// run runs the threads of a block to their end.
func (b *block) run() error {
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
			case b.kernel.code[t.pc].kind != barrier:
				return t.failure("waits for lanes that do not come")
			case before != nil && before.pc != t.pc:
				return t.failure(fmt.Sprintf("is at another barrier than thread %v", before.id))
			}
			before = t
		}
		b.epoch++
		for i := range b.threads {
			t := &b.threads[i]
			if !t.done {
				t.waits = false
				t.pc++
			}
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

// run runs a thread until it waits or ends.
func (t *thread) run() (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case fault:
			err = t.failure(string(v))
		default:
			panic(v)
		}
	}()
	code := t.block.kernel.code
	for range maxSteps {
		in := &code[t.pc]
		if in.guard >= 0 && (t.regs[in.guard] != 0) == in.negate {
			t.pc++
			continue
		}
		switch in.kind {
		case plain:
			in.do(t)
		case branch:
			t.pc = in.target
			continue
		case exit:
			t.done = true
			return nil
		default:
			t.waits = true
			return nil
		}
		t.pc++
	}
	return t.failure("does not end")
}

// failure returns an error that says where the thread is.
func (t *thread) failure(text string) error {
	k := t.block.kernel
	return fmt.Errorf("%s:%d: kernel %s, block %v, thread %v: %s", k.file, k.code[t.pc].line, k.Name, t.block.id, t.id, text)
}
