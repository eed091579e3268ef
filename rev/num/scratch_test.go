package num

import "testing"

// The memory of a pass is at most twice what it takes at once, and is there when the pass comes again: in all of its blocks.
func TestScratchMemory(t *testing.T) {
	s := new(Scratch[float64])
	pass := func() {
		s.Make(100)
		for range 5 {
			mark := s.Mark()
			for range 30 {
				inner := s.Mark()
				s.Make(7)
				s.Make(1)
				s.Release(inner)
				s.Make(20)
			}
			s.Release(mark)
		}
		s.Release(Place{})
	}
	pass()
	size := s.size
	if size > 2*(100+30*20+8) {
		t.Errorf("%d numbers, of which a pass has 708 at once", size)
	}
	if n := testing.AllocsPerRun(3, pass); n != 0 || s.size != size {
		t.Errorf("the second pass allocates %g times, and has %d numbers after %d", n, s.size, size)
	}
	for k, b := range s.blocks {
		if len(b) != 0 {
			t.Errorf("%d numbers of block %d are in use after the pass", len(b), k)
		}
	}
}

// Release to a place in an earlier block gives back what is in later ones, and nothing before the place.
func TestReleaseOfBlocks(t *testing.T) {
	s := new(Scratch[float64])
	none := s.Mark()
	x := s.Make(4)
	mark := s.Mark()
	y := s.Make(100)
	s.Release(mark)
	if z := s.Make(100); &z[0] != &y[0] {
		t.Error("what is released is not taken again")
	}
	s.Release(none)
	if z := s.Make(4); &z[0] != &x[0] {
		t.Error("the first block is not taken again")
	}
	s.Free()
}

// A place that lies after one that has been released says nothing of what is in use.
func TestReleaseTwice(t *testing.T) {
	s := new(Scratch[float64])
	x := s.Make(4)
	outer := s.Mark()
	s.Make(100)
	inner := s.Mark()
	s.Release(outer)
	s.Release(inner)
	if y := s.Make(4); &y[0] == &x[0] {
		t.Error("memory in use is given twice")
	}
	s.Release(outer)
	z := s.Make(8)
	s.Release(inner)
	if y := s.Make(1); &y[0] == &z[0] {
		t.Error("memory in use is given twice")
	}
}
