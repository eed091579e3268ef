package ptx

import (
	"errors"
	"fmt"
)

// mostTeam is how many blocks a cluster has at most on every card that has clusters.
const mostTeam = 8

// rank returns the number of a block in its cluster.
func (b *block) rank() int { return b.number % len(b.team) }

// near reports whether an access is of the cluster of the block.
func (b *block) near(a access) bool { return int(a.block)/len(b.team) == b.number/len(b.team) }

// past reports whether an access of the cluster was before its last barrier.
func (b *block) past(a access) bool { return a.epoch < b.since && b.near(a) }

// settle forgets readers that were before the last barrier of the cluster.
func (m *mark) settle(b *block) {
	if m.reader.block >= 0 && b.past(m.reader) {
		m.readers, m.warps, m.blocks = false, false, m.clusters
	}
}

// runTeam runs the blocks of a cluster to their end.
func runTeam(team []block) error {
	for {
		var before *thread // at a barrier of the cluster
		epoch := int32(0)
		for i := range team {
			b := &team[i]
			b.now = nil
			if err := b.run(); err != nil {
				return err
			}
			switch {
			case b.ended():
				continue
			case before != nil && before.pc != b.now.pc:
				return b.now.failure(fmt.Sprintf("is at another barrier than block %v", before.block.id))
			}
			before, epoch = b.now, max(epoch, b.epoch)
		}
		for i := range team {
			if b := &team[i]; b.used >= b.since && b.ended() {
				return b.threads[0].failure("ends, but others of its cluster use its shared memory")
			}
		}
		if before == nil {
			return nil
		}
		for i := range team {
			team[i].epoch, team[i].since = epoch+1, epoch+1
			team[i].pass()
		}
	}
}

// ended reports whether all threads of a block have ended.
func (b *block) ended() bool {
	for i := range b.threads {
		if !b.threads[i].done {
			return false
		}
	}
	return true
}

// sharedOf returns the shared memory of a block of the cluster.
func (b *block) sharedOf(rank int) *piece {
	other := &b.team[rank%len(b.team)]
	if other != b {
		if b.since == 0 {
			panic(fault(fmt.Sprintf("uses the shared memory of block %v, which may not have begun", other.id)))
		}
		other.used = b.epoch
	}
	return other.shared
}

const clusterArrive, clusterWait = "barrier.cluster.arrive.aligned", "barrier.cluster.wait.aligned"

var errArrival = errors.New("only an arrival and a wait after each other are known")

// clusterBarrier reads a part of a barrier of a cluster. Both parts stand together, and all threads come to them.
func (p *parser) clusterBarrier(in *instruction, op string, args []string) error {
	switch {
	case in.guard >= 0 || len(args) > 0 || op != clusterArrive && op != clusterWait:
		return fmt.Errorf("only %s and %s without guards are known", clusterArrive, clusterWait)
	case op == clusterArrive:
		in.do = func(*thread) {}
		p.arrive = len(p.kernel.code) + 1
		return nil
	case p.arrive < 0:
		return errArrival
	}
	in.kind = clusterBarrier
	p.arrive = -1
	return nil
}

// mapShared reads an instruction for an address in the shared memory of a block of the cluster. Without a state space, it takes
// generic addresses: results of cvta.
func (p *parser) mapShared(in *instruction, words, args []string) (err error) {
	if len(words) != 2 || words[1] != "u64" || len(args) != 3 {
		return fmt.Errorf("unknown instruction")
	}
	if in.to, err = p.target(args[0]); err != nil {
		return err
	}
	if in.a, err = p.source(args[1], "u64"); err != nil {
		return err
	}
	if !p.generic[in.a] {
		return fmt.Errorf("%s is no result of cvta.shared.u64", args[1])
	}
	if in.b, err = p.source(args[2], "u32"); err != nil {
		return err
	}
	to, a, b := in.to, in.a, in.b
	in.do = func(t *thread) {
		at, rank := t.regs[a], t.regs[b]
		if at < sharedBase || at >= teamBase || rank >= uint64(len(t.block.team)) {
			panic(fault(fmt.Sprintf("maps %#x, which is not in shared memory, or to block %d of %d", at, rank, len(t.block.team))))
		}
		t.regs[to] = teamBase + rank*teamBytes + (at - sharedBase)
	}
	return nil
}
