package httpapi

// maxRemembered is how many keys a memory remembers before it forgets those that
// were not asked for for a while.
const maxRemembered = 10_000

// memory keeps values under keys, of at most 2·maxRemembered: when young is full
// it becomes old, and what nobody asks for from then on is forgotten. Its user
// locks it.
type memory[K comparable, V any] struct{ young, old map[K]V }

// get returns what is remembered under key.
func (m *memory[K, V]) get(key K) (v V, ok bool) {
	if v, ok = m.young[key]; ok {
		return v, true
	}
	if v, ok = m.old[key]; ok {
		m.put(key, v)
	}
	return v, ok
}

// put remembers v under key.
func (m *memory[K, V]) put(key K, v V) {
	if m.young == nil || len(m.young) >= maxRemembered {
		m.young, m.old = make(map[K]V), m.young
	}
	m.young[key] = v
}
