package keys

import (
	"bytes"
	"fmt"
	"testing"
)

func TestNewSlot(t *testing.T) {
	t.Parallel()
	a, b := NewSlot(), NewSlot()
	if len(a.Bytes()) != SlotSize || len(b.Bytes()) != SlotSize || bytes.Equal(a.Bytes(), b.Bytes()) ||
		bytes.Equal(a.Bytes(), make([]byte, SlotSize)) {
		t.Errorf("%x and %x", a.Bytes(), b.Bytes())
	}
	if got := fmt.Sprintf("%v %x %+v", a, a, a); got != "[secret] [secret] [secret]" {
		t.Errorf("it prints as %s", got)
	}
}
