package ptx

import (
	"fmt"
	"strings"
)

// An asyncCopy is on its way to shared memory. Its place counts as unwritten until the thread
// waits for it.
type asyncCopy struct {
	to    uint64
	words []uint64
}

// async reads the instructions of asynchronous copies: cp.async itself, which copies some bytes
// and fills the rest with zeros, and the two that make groups of copies and wait for them.
func (p *parser) async(in *instruction, words, args []string) error {
	switch name := strings.Join(words[1:], "."); {
	case name == "async.commit_group" && len(args) == 0:
		in.do = func(t *thread) {
			t.groups = append(t.groups, t.copies)
			t.copies = nil
		}
		return nil
	case name == "async.wait_group" && len(args) == 1:
		last, err := literal(args[0], "u32")
		in.do = func(t *thread) {
			for len(t.groups) > int(last) {
				for _, c := range t.groups[0] {
					for i, v := range c.words {
						t.store(sharedSpace, c.to+uint64(wordBytes*i), wordBytes, v)
					}
				}
				t.groups = t.groups[1:]
			}
		}
		return err
	case (name == "async.ca.shared.global" || name == "async.cg.shared.global") && len(args) == 4:
		size, err := literal(args[2], "u32")
		if err != nil {
			return err
		}
		if size != 16 && (name == "async.cg.shared.global" || size != 4 && size != 8) {
			return fmt.Errorf("copies %d bytes", size)
		}
		to, byTo, err := p.address(strings.Trim(args[0], "[]"), sharedSpace)
		if err != nil {
			return err
		}
		from, byFrom, err := p.address(strings.Trim(args[1], "[]"), globalSpace)
		if err != nil {
			return err
		}
		some, err := p.source(args[3], "u32")
		if err != nil {
			return err
		}
		in.do = func(t *thread) { t.copyAsync(t.regs[to]+byTo, t.regs[from]+byFrom, size, truncate(t.regs[some], 4)) }
		return nil
	}
	return fmt.Errorf("unknown instruction")
}

func (t *thread) copyAsync(to, from, size, some uint64) {
	switch {
	case some > size || some%wordBytes != 0:
		panic(fault(fmt.Sprintf("copies %d of %d bytes", some, size)))
	case to%size != 0 || some > 0 && from%size != 0:
		panic(fault(fmt.Sprintf("%d bytes at %#x or %#x are not aligned", size, to, from)))
	}
	if some > 0 && t.block.traffic != nil {
		t.block.traffic.touch(t, from, int(some), false)
	}
	c := asyncCopy{to, make([]uint64, size/wordBytes)}
	for i := range c.words {
		by := uint64(wordBytes * i)
		if by < some {
			c.words[i] = t.load(globalSpace, from+by, wordBytes)
		}
		t.store(sharedSpace, to+by, wordBytes, 0)
		p, off := t.at(sharedSpace, to+by, wordBytes)
		p.marks[off/wordBytes].written = false
	}
	t.copies = append(t.copies, c)
}
