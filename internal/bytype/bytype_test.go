package bytype_test

import (
	"reflect"
	"sync"
	"testing"

	"revnum/internal/bytype"
)

// TestMap stores more types than a first table holds, from several goroutines.
func TestMap(t *testing.T) {
	var m bytype.Map[int]
	types := []reflect.Type{reflect.TypeFor[int]()}
	if m.Load(types[0]) != nil {
		t.Fatal("an empty map has a value")
	}
	for len(types) < 200 {
		types = append(types, reflect.ArrayOf(len(types), types[0]))
	}
	var wg sync.WaitGroup
	stored := make([][]*int, 4)
	for w := range stored {
		wg.Go(func() {
			for i, typ := range types {
				if v := m.Load(typ); v != nil && *v != i {
					t.Errorf("type %d has the value %d", i, *v)
				}
				v := i
				stored[w] = append(stored[w], m.LoadOrStore(typ, &v))
			}
		})
	}
	wg.Wait()
	for i, typ := range types {
		v := m.Load(typ)
		if v == nil || *v != i {
			t.Fatalf("type %d: %v", i, v)
		}
		for w := range stored {
			if stored[w][i] != v {
				t.Errorf("type %d has two values", i)
			}
		}
	}
}
