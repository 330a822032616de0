package audit

// pool interns values: it holds each once, under a number, with the count of its holders.
type pool[V any] struct {
	numbers map[string]uint32 // by the key of a value
	values  []V               // by number
	holders []int             // by number
	unused  []uint32          // free numbers
}

func newPool[V any]() pool[V] { return pool[V]{numbers: make(map[string]uint32)} }

// hold counts one more holder of the value of a key and returns its number. If the key is new, its value is v.
func (p *pool[V]) hold(key string, v V) uint32 {
	number, ok := p.numbers[key]
	if !ok {
		if last := len(p.unused) - 1; last >= 0 {
			number, p.unused = p.unused[last], p.unused[:last]
		} else {
			number = uint32(len(p.values))
			p.values, p.holders = append(p.values, v), append(p.holders, 0)
		}
		p.values[number], p.numbers[key] = v, number
	}
	p.holders[number]++
	return number
}

// release counts one holder less of the value of a number and key, and forgets the value after the last.
func (p *pool[V]) release(number uint32, key string) {
	if p.holders[number]--; p.holders[number] == 0 {
		delete(p.numbers, key)
		clear(p.values[number : number+1])
		p.unused = append(p.unused, number)
	}
}
