package long

import "testing"

func TestTests(t *testing.T) {
	for value, want := range map[string]bool{"": false, "1": !testing.Short()} {
		t.Setenv("REVNUM_LONG", value)
		if Tests() != want {
			t.Errorf("with REVNUM_LONG=%q: %v, want %v", value, !want, want)
		}
	}
}
