// Runs launches that tests have recorded, on threads of the host, and compares what they leave in memory
// with what the interpreter left there.
#include "gpu.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vector>

using namespace gpu;
typedef unsigned long long u64;
constexpr int lanes = 32, mostWarps = 64, mostTeam = 8, deadline = 120; // seconds of a launch

thread_local Place gpu::place;
static thread_local int number, turn, ownWarp; // of a thread in its block; which slots its warp exchanges by
static pthread_barrier_t ofBlock[mostTeam], ofTeam, ofGrid, ofWarp[mostWarps]; // of the blocks that run at a time
static Lanes slots[2][mostWarps];

void __nvvm_bar_sync(int) { pthread_barrier_wait(&ofBlock[place.rank]); }
void __nvvm_bar_warp_sync(int) { pthread_barrier_wait(&ofWarp[ownWarp]); }
void barrier_cluster_arrive_aligned() { pthread_barrier_wait(&ofTeam); }
int gpu::ownLane() { return number % lanes; }
const Lanes &gpu::exchange(const u64 *own, int count) {
	Lanes &all = slots[turn ^= 1][ownWarp]; // a warp is at most one exchange ahead
	memcpy(all[ownLane()], own, count * sizeof *own);
	__nvvm_bar_warp_sync(-1);
	return all;
}
double gpu::root(double x) { return sqrt(x); }
void cp_async_cg_shared_global(unsigned to, const void *from, int some, int bytes) {
	memcpy((char *)(u64)to, from, some);
	memset((char *)(u64)to + some, 0, bytes - some);
}

struct Piece {
	u64 at, bytes;
	char *now;
	std::vector<char> after;
};

static const Entry *entry;
static std::vector<u64> params;
static int blocks[3], threads[3];

static void *run(void *of) {
	int n = threads[0] * threads[1] * threads[2], rank = (int)(u64)of / n;
	number = (int)(u64)of % n;
	ownWarp = rank * ((n + lanes - 1) / lanes) + number / lanes;
	for (int b = rank; b < blocks[0] * blocks[1] * blocks[2]; b += entry->team) {
		place = {{number % threads[0], number / threads[0] % threads[1], number / (threads[0] * threads[1])}, {threads[0], threads[1], threads[2]},
			{b % blocks[0], b / blocks[0] % blocks[1], b / (blocks[0] * blocks[1])}, {blocks[0], blocks[1], blocks[2]}, rank};
		entry->run(params.data());
		pthread_barrier_wait(&ofGrid);
	}
	return nullptr;
}

static u64 word(FILE *f) {
	u64 v = 0;
	if (fread(&v, sizeof v, 1, f) != 1) {
		fprintf(stderr, "a record ends early\n");
		exit(2);
	}
	return v;
}
static void text(FILE *f, char *to, u64 bytes) {
	if (bytes > 0 && fread(to, bytes, 1, f) != 1) exit(2);
}

// same reports whether all bytes are the same. NaNs of double and of float may differ.
static bool same(const Piece &p) {
	for (u64 i = 0; i < p.bytes; i += 8) {
		u64 v = 0, w = 0, n = p.bytes - i < 8 ? p.bytes - i : 8;
		memcpy(&v, p.now + i, n);
		memcpy(&w, p.after.data() + i, n);
		if (v == w) continue;
		double x, y;
		float s[2], t[2];
		memcpy(&x, &v, 8), memcpy(&y, &w, 8), memcpy(s, &v, 8), memcpy(t, &w, 8);
		if (x != x && y != y) continue;
		if ((s[0] == t[0] || (s[0] != s[0] && t[0] != t[0])) && (s[1] == t[1] || (s[1] != s[1] && t[1] != t[1]))) continue;
		fprintf(stderr, "%s: byte %llu of the %llu at %llx: %016llx, want %016llx\n", entry->name, i, p.bytes, p.at, v, w);
		return false;
	}
	return true;
}

// replay runs the launch of a record.
static bool replay(const char *name) {
	FILE *f = fopen(name, "rb");
	if (!f) return false;
	std::vector<char> kernel(word(f) + 1);
	text(f, kernel.data(), kernel.size() - 1);
	for (entry = entries; entry->name && strcmp(entry->name, kernel.data()); entry++) {}
	if (!entry->name) {
		fprintf(stderr, "%s: no kernel %s\n", name, kernel.data());
		return false;
	}
	for (int &n : blocks) n = (int)word(f);
	for (int &n : threads) n = (int)word(f);
	params.resize(word(f));
	for (u64 &p : params) p = word(f);
	std::vector<Piece> pieces(word(f));
	for (Piece &p : pieces) {
		p.at = word(f), p.bytes = word(f);
		p.now = (char *)malloc(p.bytes); // apart from each other, so that the sanitizer knows their ends
		p.after.resize(p.bytes);
		text(f, p.now, p.bytes);
		text(f, p.after.data(), p.bytes);
	}
	fclose(f);
	for (u64 &v : params) {
		for (Piece &p : pieces) {
			if (v >= p.at && v <= p.at + p.bytes) {
				v = (u64)p.now + (v - p.at);
				break;
			}
		}
	}
	int n = threads[0] * threads[1] * threads[2];
	int warps = (n + lanes - 1) / lanes, team = entry->team;
	if (team > mostTeam || team * warps > mostWarps || blocks[0] % team) abort();
	for (int r = 0; r < team; r++) pthread_barrier_init(&ofBlock[r], nullptr, n);
	pthread_barrier_init(&ofTeam, nullptr, team * n);
	pthread_barrier_init(&ofGrid, nullptr, team * n);
	for (int w = 0; w < team * warps; w++) {
		int rest = n - w % warps * lanes;
		pthread_barrier_init(&ofWarp[w], nullptr, rest < lanes ? rest : lanes);
	}
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 20);
	std::vector<pthread_t> all(team * n);
	alarm(deadline); // threads wait forever where not all reach a barrier
	for (int i = 0; i < team * n; i++) {
		if (pthread_create(&all[i], &small, run, (void *)(u64)i)) abort();
	}
	for (pthread_t t : all) pthread_join(t, nullptr);
	alarm(0);
	bool ok = true;
	for (Piece &p : pieces) {
		ok = same(p) && ok;
		free(p.now);
	}
	return ok;
}

int main(int count, char **names) {
	int failed = 0;
	for (int i = 1; i < count; i++) {
		if (!replay(names[i])) {
			fprintf(stderr, "%s: failed\n", names[i]);
			failed++;
		}
	}
	return failed > 0;
}
