package jsonfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Unmarshal is json.Unmarshal, but a null in the place of a number is an error that names the
// place. json.Unmarshal leaves 0 there.
func Unmarshal(b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return err
	}
	if !bytes.Contains(b, []byte("null")) {
		return nil
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		return err
	}
	return findNull("", tree, reflect.TypeOf(v).Elem())
}

// findNull returns an error if v, the value at a place, has a null where t has a number or
// an element of a list.
func findNull(place string, v any, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return nil // it has checked its value
	case v == nil && t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64:
		return fmt.Errorf("expected a number in %s, found null", place)
	}
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			at := fmt.Sprintf("%s[%d]", place, i)
			if e == nil {
				return fmt.Errorf("expected a value in %s, found null", at)
			}
			if err := findNull(at, e, t.Elem()); err != nil {
				return err
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return nil
		}
		for _, field := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" {
				name = field.Name
			}
			for key, e := range v {
				if !strings.EqualFold(key, name) {
					continue
				}
				if err := findNull(strings.TrimPrefix(place+"."+key, "."), e, field.Type); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
