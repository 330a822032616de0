package inspect

import "reflect"

// sum adds the figures of one struct to those of another of its type: its numbers, and those in its maps by name.
func sum[T any](to, from *T) {
	a, b := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range a.NumField() {
		switch figure := a.Field(i); figure.Kind() {
		case reflect.Uint64:
			figure.SetUint(figure.Uint() + b.Field(i).Uint())
		case reflect.Map:
			by := figure.Interface().(map[string]uint64)
			for name, n := range b.Field(i).Interface().(map[string]uint64) {
				by[name] += n
			}
		}
	}
}
