package ptx

// Traffic is what a kernel moves from and to global memory, in bytes. The hardware moves
// sectors: an instruction of a warp moves each sector that one of its threads touches. No cache
// keeps anything but what Machine.Cached says.
type Traffic struct {
	Loaded, Stored               int // by the threads
	LoadedSectors, StoredSectors int // by the hardware
}

const sectorBytes = 32

// touched are the accesses of a block.
type touched struct {
	Traffic
	memory  *Memory
	cached  int // as in Machine
	sectors map[sector]bool
	times   map[[2]int]int // how often a thread was at an instruction
}

// A sector of memory is moved by an instruction of a warp. The threads of a warp are at an
// instruction together as often as each of them is there.
type sector struct {
	number   uint64
	warp, pc int
	time     int
	store    bool
}

// touch counts an access of a thread.
func (c *touched) touch(t *thread, addr uint64, bytes int, store bool) {
	if _, data := c.memory.Piece(addr); !store && len(data) <= c.cached {
		return
	}
	if c.sectors == nil {
		c.sectors, c.times = map[sector]bool{}, map[[2]int]int{}
	}
	at := [2]int{t.number, t.pc}
	c.times[at]++
	for s := addr / sectorBytes; s <= (addr+uint64(bytes)-1)/sectorBytes; s++ {
		c.sectors[sector{s, t.number / warp, t.pc, c.times[at], store}] = true
	}
	if store {
		c.Stored += bytes
	} else {
		c.Loaded += bytes
	}
}

// addTo returns the sum with what other blocks move.
func (c *touched) addTo(s Traffic) Traffic {
	for k := range c.sectors {
		if k.store {
			s.StoredSectors += sectorBytes
		} else {
			s.LoadedSectors += sectorBytes
		}
	}
	s.Loaded += c.Loaded
	s.Stored += c.Stored
	return s
}
